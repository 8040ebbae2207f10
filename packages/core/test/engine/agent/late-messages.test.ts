import {
  agent,
  memoryStore,
  parallel,
  type Renderer,
  runtime,
  type Session,
  sequence,
  tool,
} from 'adjutant';
import { includeHistory, promptOf } from 'adjutant/context';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { expect, test } from 'vitest';
import { z } from 'zod';

const look = tool({
  name: 'look',
  description: 'Looks',
  recovery: 'rerun',
  schema: z.object({}),
  execute: () => 'seen',
});

/** A model during whose calls the user says something, by the number of the call from 0. */
function interrupted(model: ScriptedModel, say: (call: number) => unknown): ScriptedModel {
  return new Proxy(model, {
    get: (target, key) => {
      const value = Reflect.get(target, key, target) as unknown;
      if (key !== 'doGenerate' && key !== 'doStream')
        return typeof value === 'function' ? value.bind(target) : value;
      return (options: unknown) => {
        say(target.calls.length);
        return (value as (given: unknown) => unknown).call(target, options);
      };
    },
  });
}

function texts(prompt: ScriptedModel['calls'][number]['prompt']): readonly string[] {
  return prompt.map(({ role, content }) => {
    if (typeof content === 'string') return `${role} ${content}`;
    return (
      `${role} ` +
      `${content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' ')}`
    );
  });
}

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
}

const contexts: readonly (readonly [string, readonly Renderer[]])[] = [
  ['a history', [includeHistory()]],
  ['all history', [includeHistory({ scope: 'all' })]],
  ['chosen events', [includeHistory(), (context) => context.withEvents(context.events)]],
];

test.each(contexts)(
  'a message during a model call stands behind the answer, and the prompt ends with it: %s',
  async (_name, context) => {
    const app = runtime({ app: 'late', store: memoryStore() });
    const session = await app.sessions.open({ id: 's' });
    const model = scriptedModel([
      { text: 'first answer' },
      { text: 'second answer' },
      { text: 'third answer' },
    ]);
    const late = interrupted(model, (call) => call === 0 && session.addMessage('LATE'));
    const worker = agent({ name: 'worker', model: late, context });
    await app.run(worker, { input: 'hi', session });
    expect(texts(model.calls[1]?.prompt ?? [])).toEqual([
      'user hi',
      'assistant first answer',
      'user LATE',
    ]);
    await app.run(worker, { input: 'more', session });
    expect(texts(model.calls[2]?.prompt ?? [])).toEqual([
      'user hi',
      'assistant first answer',
      'user LATE',
      'assistant second answer',
      'user more',
    ]);
    expectExact(session, [model]);
    await app.close();
  },
);

test(
  'a message during a call that asks for tools stands behind their results, one during a ' +
    'failed call in the next attempt',
  async () => {
    const app = runtime({ app: 'late', store: memoryStore() });
    const session = await app.sessions.open({ id: 's' });
    const model = scriptedModel([
      { error: Object.assign(new Error('busy'), { statusCode: 503 }) },
      { text: 'looking', toolCalls: [{ name: 'look' }] },
      { text: 'done' },
    ]);
    const late = interrupted(model, (call) => call < 2 && session.addMessage(`LATE ${call}`));
    const ready = {
      kind: 'model' as const,
      provider: 'scripted',
      modelId: 'm',
      settings: { retry: { initialDelayMs: 0 } },
      load: () => late,
    };
    await app.run(agent({ name: 'worker', model: ready, tools: [look] }), { input: 'hi', session });
    expect(model.calls.map(({ prompt }) => texts(prompt))).toEqual([
      ['user hi'],
      ['user hi', 'user LATE 0'],
      ['user hi', 'user LATE 0', 'assistant looking tool-call', 'tool tool-result', 'user LATE 1'],
    ]);
    expectExact(session, [model]);
    await app.close();
  },
);

test(
  'who comes next in a sequence is told the message behind what the first ' + 'one answered',
  async () => {
    const app = runtime({ app: 'late', store: memoryStore() });
    const session = await app.sessions.open({ id: 's' });
    const first = scriptedModel([{ text: 'one' }, { text: 'two' }]);
    const next = scriptedModel([{ text: 'end' }]);
    const late = interrupted(first, (call) => call === 0 && session.addMessage('LATE', 'run'));
    const line = sequence({
      name: 'line',
      runnables: [agent({ name: 'first', model: late }), agent({ name: 'next', model: next })],
    });
    await app.run(line, { input: 'hi', session, runId: 'run' });
    expect(texts(next.calls[0]?.prompt ?? [])).toEqual([
      'user hi',
      'user [first] said: one',
      'user LATE',
    ]);
    expectExact(session, [first, next]);
    await app.close();
  },
);

test('all history is the same when it grows beside branches and when it is made anew', async () => {
  const app = runtime({ app: 'late', store: memoryStore() });
  const rounds = [
    { toolCalls: [{ name: 'look' }] },
    { toolCalls: [{ name: 'look' }] },
    { text: 'end' },
  ];
  const models = Array.from({ length: 5 }, (_, i) =>
    scriptedModel(i === 0 ? [...rounds.slice(0, 2), ...rounds.slice(0, 2), ...rounds] : rounds),
  );
  const worker = (i: number) =>
    agent({
      name: `w${i}`,
      model: models[i] as ScriptedModel,
      tools: [look],
      context: [includeHistory({ scope: 'all' })],
    });
  const both = parallel({
    name: 'both',
    runnables: [
      worker(0),
      sequence({
        name: 'line',
        runnables: [parallel({ name: 'inner', runnables: [worker(1), worker(2)] }), worker(3)],
      }),
    ],
  });
  const { session } = await app.run(sequence({ name: 'all', runnables: [both, worker(4)] }), 'hi');
  expect(session.events.filter(({ type }) => type === 'model_start')).toHaveLength(19);
  expectExact(session, models);
  await app.close();
});
