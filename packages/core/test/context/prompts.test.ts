import type { LanguageModelV4Message } from '@ai-sdk/provider';
import {
  agent,
  memoryStore,
  parallel,
  type Renderer,
  type Runnable,
  runtime,
  type Session,
  sequence,
  step,
  tool,
} from 'adjutant';
import {
  enrichUserMessages,
  includeHistory,
  injectSystemMessage,
  injectUserMessage,
  limitTools,
  promptOf,
  pruneReasoning,
  selectRecentEvents,
  setToolChoice,
  wrapUserMessages,
} from 'adjutant/context';
import {
  appendBoundaries,
  type ScriptedModel,
  type ScriptedResponse,
  scriptedModel,
  tickingClock,
} from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const quiet = z.object({});
const look = tool({
  name: 'look',
  description: 'Looks',
  recovery: 'rerun',
  schema: quiet,
  execute: (ctx) => {
    ctx.state['seen'] = ((ctx.state['seen'] as number | undefined) ?? 0) + 1;
    return { found: ctx.callId };
  },
});
const large = tool({
  name: 'large',
  description: 'Gives much',
  schema: quiet,
  execute: () => 'line\n'.repeat(40_000),
});
const read = tool({
  name: 'files.read',
  description: 'Has a dot',
  recovery: 'rerun',
  schema: quiet,
  execute: () => 'text',
});

/** Three rounds of calls with thoughts, and an answer. */
const script: readonly ScriptedResponse[] = [
  { thoughts: 'hm', text: 'first', toolCalls: [{ name: 'look' }, { name: 'files__read' }] },
  { toolCalls: [{ name: 'look' }] },
  { thoughts: 'so', toolCalls: [{ name: 'nothing' }, { name: 'look', args: '{"' }] },
  { text: 'the answer' },
];
const scripted = (times = 1) => scriptedModel(Array.from({ length: times }, () => script).flat());

/**
 * All calls that models got, in the order in which they were made, against what the ledger says of
 * them.
 */
function expectExact(session: Session, models: readonly ScriptedModel[]): void {
  const received = models
    .flatMap(({ calls }) => calls.map(({ abortSignal: _, ...options }) => canonicalJson(options)))
    .sort();
  const rebuilt = session.events
    .flatMap((event) =>
      event.type === 'model_start'
        ? [canonicalJson(promptOf(session.events, event.seq, session.ledger.resolve))]
        : [],
    )
    .sort();
  expect(rebuilt).toEqual(received);
  expect(rebuilt.length).toBeGreaterThan(0);
}

const contexts: readonly (readonly [string, readonly Renderer[] | undefined])[] = [
  ['the default context', undefined],
  [
    'a system message that depends on state',
    [
      injectSystemMessage(
        ({ state, round }) => `Seen ${state['session']?.['seen'] ?? 0} in round ${round}`,
      ),
      includeHistory(),
    ],
  ],
  [
    'the last events only',
    [injectSystemMessage('Be brief'), includeHistory(), selectRecentEvents(3)],
  ],
  ['no reasoning', [includeHistory(), pruneReasoning()]],
  [
    'wrapped and enriched messages',
    [
      includeHistory(),
      wrapUserMessages((text) => `<${text}>`),
      enrichUserMessages(
        ({ message, state }) => `${message} (${state['session']?.['seen'] ?? 'nothing'})`,
      ),
    ],
  ],
  [
    'messages around two histories',
    [
      includeHistory({ scope: 'own' }),
      injectUserMessage('between'),
      includeHistory({ scope: 'all' }),
    ],
  ],
  [
    'fewer tools by the round',
    [
      includeHistory(),
      (context) => (context.round % 2 === 0 ? limitTools(['look'])(context) : context),
      (context) => (context.round === 3 ? setToolChoice('required')(context) : context),
    ],
  ],
  [
    'events put together by hand',
    [
      includeHistory(),
      (context) => context.withEvents(context.events.filter((event) => event.type !== 'user')),
      injectUserMessage(({ round }) => `round ${round}`),
    ],
  ],
];

describe.each(contexts)('with %s', (_name, context) => {
  const make = () => {
    const model = scripted(2);
    return {
      model,
      worker: agent({
        name: 'worker',
        model,
        tools: [look, read],
        ...(context === undefined ? {} : { context }),
      }),
    };
  };

  test('each recorded prompt is, to the byte, what the model got, over two runs', async () => {
    const { model, worker } = make();
    const app = runtime({ app: 'prompts' });
    await app.run(worker, { input: 'Go', session: 's' });
    const { session } = await app.run(worker, { input: 'Again', session: 's' });
    expect(model.calls).toHaveLength(8);
    expectExact(session, [model]);
  });

  test(
    'a history that has grown gives what one made anew gives: a continued run asks what the ' +
      'first would have asked',
    async () => {
      const clock = tickingClock();
      const whole = make();
      const { session } = await runtime({ app: 'prompts', ports: { clock } }).run(whole.worker, {
        input: 'Go',
        runId: 'run',
      });
      const asked = whole.model.calls.map(({ prompt }) => canonicalJson(prompt));
      for (const cut of appendBoundaries(session.events)) {
        const rounds = session.events
          .slice(0, cut)
          .filter((event) => event.type === 'model_end').length;
        if (cut === 0 || cut === session.events.length) continue;
        const model = scriptedModel(script.slice(rounds));
        const app = runtime({
          app: 'prompts',
          store: memoryStore(),
          runnables: [
            agent({
              ...whole.worker,
              model,
              context: whole.worker.context ?? [includeHistory()],
            } as never),
          ],
        });
        const restored = await app.sessions.restore({
          ...session.toJSON(),
          events: session.events.slice(0, cut),
        });
        await app.resume(restored);
        const ids = (text: string) => text.replace(/"toolCallId":"[^"]*"/g, '');
        expect({ cut, asked: model.calls.map(({ prompt }) => ids(canonicalJson(prompt))) }).toEqual(
          {
            cut,
            asked: asked.slice(rounds).map(ids),
          },
        );
        expectExact(restored, [
          {
            calls: [
              ...whole.model.calls.slice(
                0,
                restored.events.filter((event) => event.type === 'model_start').length -
                  model.calls.length,
              ),
              ...model.calls,
            ],
          } as never,
        ]);
      }
    },
  );
});

describe('in compositions', () => {
  const app = () => runtime({ app: 'prompts' });

  test('transfer, branches and what comes after a join', async () => {
    const models = Array.from({ length: 5 }, () => scripted());
    const [first, left, right, target, last] = models as [
      ScriptedModel,
      ScriptedModel,
      ScriptedModel,
      ScriptedModel,
      ScriptedModel,
    ];
    const worker = (name: string, model: ScriptedModel) =>
      agent({ name, model, tools: [look, read] });
    const source = scriptedModel([{ text: 'over', toolCalls: [{ name: 'pass' }] }]);
    const passing = agent({
      name: 'source',
      model: source,
      tools: [
        tool({
          name: 'pass',
          description: 'Passes',
          schema: quiet,
          execute: () => worker('target', target),
        }),
      ],
    });
    const all: Runnable = sequence({
      name: 'all',
      runnables: [
        worker('first', first),
        parallel({
          name: 'p',
          runnables: [
            worker('left', left),
            sequence({
              name: 'line',
              runnables: [
                step({ name: 'say', execute: (ctx) => ctx.respond('between') }),
                worker('right', right),
              ],
            }),
          ],
        }),
        passing,
        worker('last', last),
      ],
    });
    const result = await app().run(all, 'Go');
    expect(result.status).toBe('completed');
    expectExact(result.session, [...models, source]);
  });

  test('agents that tools call and spawn', async () => {
    const called = scripted();
    const spawned = scripted();
    const boss = scriptedModel([
      { toolCalls: [{ name: 'ask' }, { name: 'start' }] },
      { text: 'wait' },
      { text: 'end' },
      { text: 'end' },
    ]);
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: quiet,
      execute: async (ctx) =>
        (
          await ctx.call(agent({ name: 'called', model: called, tools: [look, read] }), {
            message: 'well?',
          })
        ).output,
    });
    const startOne = tool({
      name: 'start',
      description: 'Starts',
      schema: quiet,
      execute: (ctx) =>
        ctx.spawn(agent({ name: 'spawned', model: spawned, tools: [look, read] }), {
          message: 'do',
        }).invocationId,
    });
    const result = await app().run(
      agent({ name: 'boss', model: boss, tools: [ask, startOne] }),
      'Go',
    );
    expect(result.status).toBe('completed');
    expectExact(result.session, [called, spawned, boss]);
  });

  test('large results, which are shortened, and failed attempts', async () => {
    const inner = scriptedModel([
      { toolCalls: [{ name: 'large' }] },
      { error: Object.assign(new Error('busy'), { statusCode: 503 }) },
      { text: 'done' },
    ]);
    const model = {
      kind: 'model' as const,
      provider: 'scripted',
      modelId: 'm',
      settings: { temperature: 0.5, maxTokens: 99, retry: { initialDelayMs: 0 } },
      contextWindow: 10_000,
      load: () => inner,
    };
    const result = await app().run(agent({ name: 'a', model, tools: [large] }), 'Go');
    expect(result.status).toBe('completed');
    expect(inner.calls[1]).toMatchObject({ temperature: 0.5, maxOutputTokens: 99 });
    expectExact(result.session, [inner]);
  });

  test('a last answer at a limit', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'look' }] },
      { text: 'enough', toolCalls: [{ name: 'look' }] },
    ]);
    const result = await app().run(
      agent({ name: 'a', model, tools: [look], limits: { rounds: 1 } }),
      'Go',
    );
    expect(result).toMatchObject({
      status: 'completed',
      output: 'enough',
      stopReason: 'round_limit',
    });
    expect(result.toolCalls).toHaveLength(1);
    expect(model.calls[1]?.toolChoice).toEqual({ type: 'none' });
    expectExact(result.session, [model]);
  });
});

test('each prompt of the default context begins with the whole prompt before it', async () => {
  const model = scripted(2);
  const worker = agent({
    name: 'worker',
    model,
    tools: [look, read],
    context: [injectSystemMessage('Be brief'), includeHistory()],
  });
  const app = runtime({ app: 'prompts' });
  await app.run(worker, { input: 'Go', session: 's' });
  await app.run(worker, { input: 'Again', session: 's' });
  for (const [i, { prompt }] of model.calls.entries()) {
    const before = model.calls[i - 1]?.prompt ?? [];
    expect(prompt.slice(0, before.length)).toEqual(before);
    // The very objects: nothing is encoded twice.
    if (i % 4 !== 0)
      expect(
        prompt.slice(1, before.length).every((message, at) => message === before[at + 1]),
      ).toBe(true);
  }
});

test(
  'the last events never part a call from its result, nor an answer from ' + 'its parts',
  async () => {
    const roundsOf = fc.array(
      fc.record({ calls: fc.nat(3), text: fc.boolean(), thought: fc.boolean() }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(roundsOf, fc.integer({ min: 1, max: 12 }), async (rounds, count) => {
        const responses: ScriptedResponse[] = rounds.map(({ calls, text, thought }) => ({
          ...(thought ? { thoughts: 'hm' } : {}),
          ...(text ? { text: 'said' } : {}),
          toolCalls: Array.from({ length: calls + 1 }, () => ({ name: 'look' })),
        }));
        const model = scriptedModel([...responses, { text: 'end' }]);
        const { session } = await runtime({ app: 'prompts' }).run(
          agent({
            name: 'a',
            model,
            tools: [look],
            context: [includeHistory(), selectRecentEvents(count)],
          }),
          'Go',
        );
        for (const { prompt } of model.calls) expectPaired(prompt);
        expectExact(session, [model]);
      }),
      { numRuns: 40 },
    );
  },
);

function expectPaired(prompt: readonly LanguageModelV4Message[]): void {
  prompt.forEach((message, i) => {
    const calls =
      message.role === 'assistant'
        ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [];
    const next = prompt[i + 1];
    const results =
      next?.role === 'tool'
        ? next.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    if (message.role === 'assistant') expect(results).toEqual(calls);
    if (message.role === 'tool') expect(prompt[i - 1]?.role).toBe('assistant');
    expect(canonicalJson(message)).not.toContain('No result of this call is known');
  });
}
