import { expect, test } from 'vitest';
import { run } from '../in-memory-app.ts';
import type { Event } from '../ledger/event.ts';
import { agent } from '../runnables/agent.ts';
import type { SubstituteAnswer } from '../runnables/hooks.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { explain } from './explain.ts';

const envelope = { v: 1, by: 'runtime' as const, invocationId: 'r' };
const started: Event = {
  ...envelope,
  seq: 1,
  id: 'a',
  at: 1,
  type: 'invocation_start',
  kind: 'agent',
  name: 'worker',
  mode: 'root',
};

test(
  'an attempt after one without a result, an unknown outcome, a compaction and a model call ' +
    'that failed are told',
  () => {
    const attempt = {
      ...envelope,
      type: 'tool_attempt' as const,
      callId: 'r/r1.0',
      key: 'k',
      epoch: 1,
    };
    const usage = { inputTokens: 1, outputTokens: 0 };
    const events: Event[] = [
      started,
      { ...attempt, seq: 2, id: 'b', at: 2, attempt: 1, tool: 'send' },
      { ...attempt, seq: 3, id: 'c', at: 3, attempt: 2, tool: 'send' },
      {
        ...envelope,
        ...{
          seq: 4,
          id: 'd',
          at: 4,
          type: 'tool_result',
          callId: 'r/r1.0',
          name: 'send',
          attempt: 2,
          settled: true,
          durationMs: 1,
        },
        result: { status: 'unknown', content: 'who knows' },
      } as Event,
      {
        ...envelope,
        seq: 5,
        id: 'e',
        at: 5,
        type: 'compaction',
        covers: ['x', 'y'],
        overlap: 1,
        summary: 's',
        tokensBefore: 900,
        tokensAfter: 90,
      },
      {
        ...envelope,
        ...{
          seq: 6,
          id: 'f',
          at: 6,
          type: 'model_end',
          round: 1,
          attempt: 1,
          status: 'error',
          usage,
          durationMs: 1,
          retryAfterMs: 1_500,
        },
        error: { name: 'ModelError', code: 'model_overloaded', message: 'It is busy.' },
      } as Event,
      {
        ...envelope,
        seq: 7,
        id: 'g',
        at: 7,
        type: 'model_end',
        round: 1,
        attempt: 2,
        status: 'interrupted',
        usage,
        durationMs: 1,
      },
      {
        ...envelope,
        seq: 8,
        id: 'h',
        at: 8,
        type: 'handoff',
        from: 'worker',
        to: 'clerk',
        depth: 1,
      },
    ];
    expect(
      explain(events).map(({ component, decision, why }) => [component, decision, why]),
    ).toEqual([
      ['recovery', 'repeat', expect.stringContaining('Attempt 1 has no result')],
      ['recovery', 'unknown', expect.stringContaining('not repeated')],
      [
        'context',
        'compact',
        'The prompt came near the end of the window: 900 tokens before, 90 after.',
      ],
      ['models', 'retry', 'It is busy. The next attempt comes after 1.5 s.'],
      ['recovery', 'interrupted', expect.any(String)],
      ['handoff', 'transfer', 'worker decided that clerk is to go on.'],
    ]);
  },
);

test('a decision about a retry or a compaction says it in their place', () => {
  const decision = { ...envelope, type: 'decision' as const, reasoning: 'because' };
  const events = [
    started,
    {
      ...decision,
      seq: 2,
      id: 'b',
      at: 2,
      component: 'error_router',
      decision: 'backoff',
      data: { callId: 'r/r1.0', tool: 'send' },
    },
    {
      ...{
        ...envelope,
        seq: 3,
        id: 'c',
        at: 2,
        type: 'tool_result',
        callId: 'r/r1.0',
        name: 'send',
        attempt: 1,
        settled: false,
        durationMs: 1,
      },
      ...{ retryAfterMs: 5, result: { status: 'error_transient', content: 'busy' } },
    },
    {
      ...envelope,
      seq: 4,
      id: 'd',
      at: 3,
      type: 'compaction',
      covers: [],
      overlap: 0,
      summary: '',
      tokensBefore: 9,
      tokensAfter: 1,
    },
    { ...decision, seq: 5, id: 'e', at: 3, component: 'context', decision: 'compact' },
  ] as Event[];
  expect(explain(events).map(({ seq, what }) => [seq, what])).toEqual([
    [2, 'The tool send failed and was run again after a while.'],
    [5, 'The older part of what worker reads was replaced by a summary.'],
  ]);
});

test('answers in the place of the model are told once each, the last one too', async () => {
  const answers: SubstituteAnswer[] = [
    { stepEvents: [{ type: 'assistant', text: 'More.' }], terminal: false },
    { stepEvents: [] },
  ];
  const beforeModel = () => answers.shift();
  const { session } = await run(
    agent({ name: 'quiet', model: scriptedModel([]), hooks: { beforeModel } }),
    'Go',
  );
  expect(
    explain(session).map(({ component, decision, what }) => [component, decision, what]),
  ).toEqual([
    [
      'hooks',
      'continue',
      'Something else answered quiet in the place of its model, and it went on.',
    ],
    ['hooks', 'answer', 'Something else answered quiet in the place of its model.'],
  ]);
});

test('a model that fails and is followed by another one is not told to be asked again', async () => {
  const error = Object.assign(new Error('Wrong key'), { statusCode: 401 });
  const models = [
    scriptedModel([], { defaultResponse: { error }, modelId: 'first' }),
    scriptedModel([{ text: 'x' }], { modelId: 'second' }),
  ] as const;
  const { session } = await run(agent({ name: 'careful', model: models }), 'Go');
  expect(explain(session).map(({ decision, why }) => [decision, why])).toEqual([
    ['failed', expect.stringMatching(/Wrong key\.$/)],
    ['fallback', expect.stringContaining('scripted:second is asked from now on')],
  ]);
});
