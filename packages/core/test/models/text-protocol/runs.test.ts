import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import {
  agent,
  type Event,
  type Model,
  memoryStore,
  runtime,
  type Session,
  textPrompt,
  textProtocol,
  tool,
} from 'adjutant';
import { promptOf } from 'adjutant/context';
import {
  appendBoundaries,
  type ScriptedModel,
  scriptedModel,
  tickingClock,
} from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { expect, test } from 'vitest';
import { z } from 'zod';

const distance = tool({
  name: 'distance',
  description: 'Distance to a body',
  recovery: 'rerun',
  schema: z.object({ body: z.string() }),
  execute: ({ args }) => ({ body: args.body, km: args.body === 'moon' ? 384_400 : 225_000_000 }),
});

const script: readonly string[] = [
  'Thought: Two distances.\nAction: {"tool": "distance", "arguments": {"body": ' +
    "\"moon\"}}\nAction: {'action': 'distance', 'args': {'body': " +
    "'mars',}}\nObservation: 1 km",
  'Action: {"tool": "subtract", "arguments": {"a": 225000000, "b": 384400}}',
  'Action: distance of the sun',
  'Action: {"tool": "distance", "arguments": {"planet": "sun"}}',
  'Thought: Enough.\nFinal Answer: Mars is farther.',
];

/** Keeps what the loop gives to the wrapped model, before it is put into words. */
function heard(model: Model, received: LanguageModelV4CallOptions[]): Model {
  return {
    ...model,
    async load(): Promise<LanguageModelV4> {
      const inner = await model.load();
      return {
        ...inner,
        doStream: (options) => {
          received.push({ ...options, prompt: options.prompt.slice() });
          return inner.doStream(options);
        },
      };
    },
  };
}

function prepare(answers: readonly string[]) {
  const model = scriptedModel(
    answers.map((text) => ({ chunks: text.match(/[\s\S]{1,7}/g) ?? [] })),
  );
  const received: LanguageModelV4CallOptions[] = [];
  const worker = agent({
    name: 'worker',
    model: heard(textProtocol(model), received),
    tools: [distance],
  });
  return {
    model,
    received,
    worker,
    app: runtime({
      app: 'text',
      store: memoryStore(),
      ports: { clock: tickingClock() },
      runnables: [worker],
    }),
  };
}

const plain = ({ abortSignal: _, ...options }: LanguageModelV4CallOptions) =>
  canonicalJson(options as never);

/**
 * Checks that the ledger, the calls of the wrapped model and those of the model itself agree.
 */
function expectExact(
  session: Session,
  seqs: readonly number[],
  received: readonly LanguageModelV4CallOptions[],
  model: ScriptedModel,
): void {
  const rebuilt = seqs.map((seq) => promptOf(session.events, seq, session.ledger.resolve));
  expect(rebuilt.map((options) => canonicalJson(options))).toEqual(received.map(plain));
  expect(
    rebuilt.map((options) => plain(textPrompt(options as LanguageModelV4CallOptions))),
  ).toEqual(model.calls.map(plain));
}

const starts = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'model_start' ? [event.seq] : []));

test(
  'several rounds with calls, an unknown tool, an unreadable action and wrong ' + 'arguments',
  async () => {
    const { app, worker, model, received } = prepare(script);
    const result = await app.run(worker, 'Which is farther, the moon or Mars?');
    expect(result).toMatchObject({ status: 'completed', output: 'Mars is farther.' });

    const calls = result.session.events.filter((event) => event.type === 'tool_call');
    expect(calls.map(({ name, round }) => `${round} ${name}`)).toEqual([
      '1 distance',
      '1 distance',
      '2 subtract',
      '3 unreadable_action',
      '4 distance',
    ]);
    expect(calls.slice(0, 2).map(({ args }) => args)).toEqual([{ body: 'moon' }, { body: 'mars' }]);
    const results = result.session.events.filter((event) => event.type === 'tool_result');
    expect(results.map((event) => event.result.status === 'success')).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(
      result.session.events.filter((event) => event.type === 'thought').map(({ text }) => text),
    ).toEqual(['Two distances.', 'Enough.']);

    const last = JSON.stringify(model.calls.at(-1)?.prompt);
    expect(last).toContain(
      'Action: {\\"tool\\":\\"distance\\",\\"arguments\\":{\\"body\\":\\"moon\\"}}',
    );
    expect(last).toContain('Observation (distance): {\\"body\\":\\"moon\\",\\"km\\":384400}');
    expect(last).toContain('Action: distance of the sun');
    expect(last).toContain('The goal is still: Which is farther, the moon or Mars?');
    expect(last).not.toContain('1 km');
    expect(model.calls.every(({ tools }) => tools === undefined)).toBe(true);
    expectExact(result.session, starts(result.session.events), received, model);
  },
);

test('a run that stopped anywhere goes on with the same prompts', async () => {
  const whole = prepare(script);
  const { session } = await whole.app.run(whole.worker, 'Which is farther, the moon or Mars?');
  const asked = whole.model.calls.map(({ prompt }) => canonicalJson(prompt as never));
  const cuts = appendBoundaries(session.events).filter(
    (cut) => cut > 0 && cut < session.events.length,
  );
  expect(cuts.length).toBeGreaterThan(10);
  for (const cut of cuts) {
    const before = session.events.slice(0, cut);
    const rounds = before.filter((event) => event.type === 'model_end').length;
    const { app, model, received } = prepare(script.slice(rounds));
    const restored = await app.sessions.restore({ ...session.toJSON(), events: before });
    const result = await app.resume(restored);
    expect({ cut, output: result.output }).toEqual({ cut, output: 'Mars is farther.' });
    expect({ cut, asked: model.calls.map(({ prompt }) => canonicalJson(prompt as never)) }).toEqual(
      { cut, asked: asked.slice(rounds) },
    );
    const made = starts(restored.events);
    expectExact(restored, made.slice(made.length - model.calls.length), received, model);
  }
});

test('the final answer and the thoughts are streamed, and the calls as well', async () => {
  const { app, worker } = prepare([script[0] ?? '', script[4] ?? '']);
  const deltas = { assistant_delta: '', thought_delta: '', tool_args_delta: '' };
  for await (const event of app.run(worker, 'Which is farther?')) {
    if (
      event.type === 'assistant_delta' ||
      event.type === 'thought_delta' ||
      event.type === 'tool_args_delta'
    )
      deltas[event.type] += event.delta;
  }
  expect(deltas).toEqual({
    assistant_delta: 'Mars is farther.',
    thought_delta: 'Two distances.Enough.',
    tool_args_delta: '{"body":"moon"}{"body":"mars"}',
  });
});
