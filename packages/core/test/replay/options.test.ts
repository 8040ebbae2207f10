import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  agent,
  type JsonValue,
  type Runtime,
  runtime,
  type Session,
  sequence,
  step,
  tool,
} from 'adjutant';
import { type ReplayOptions, recordedLedgerOf, replay } from 'adjutant/replay';
import { roundModel, type ScriptedModel, type ScriptedResponse } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { enteredBy } from './entered.ts';

interface Shop {
  readonly price?: number;
  readonly system?: string;
  readonly answers?: readonly ScriptedResponse[];
}

const ask: ScriptedResponse = { toolCalls: [{ name: 'price', args: { item: 'pen' } }] };

function shop({ price = 3, system, answers = [ask, { text: 'It is 3.' }] }: Shop = {}): {
  app: Runtime;
  root: ReturnType<typeof sequence>;
  model: ScriptedModel;
} {
  const model = roundModel(answers);
  const clerk = agent({
    name: 'clerk',
    model,
    tools: [
      tool({
        name: 'price',
        description: 'Prices',
        schema: z.object({ item: z.string() }),
        recovery: 'rerun',
        execute: () => price,
      }),
    ],
    ...(system === undefined ? {} : { description: system }),
  });
  const note = step({
    name: 'note',
    execute: async (ctx) => {
      ctx.state['paid'] = await ctx.effect('pay', () => price * 2, { recovery: 'rerun' });
    },
  });
  const root = sequence({ name: 'shop', runnables: [clerk, note] });
  return { app: runtime({ app: 'shop', recover: 'manual', runnables: [root] }), root, model };
}

async function recorded(): Promise<Session> {
  const { app, root } = shop();
  return (await app.run(root, { session: 's', input: 'How much?', runId: 'run' })).session;
}

const places = ({ divergences }: Awaited<ReturnType<typeof replay>>) =>
  divergences.map(({ kind, path }) => `${kind} ${path}`);

test('neither models nor tools are asked', async () => {
  const { app, model } = shop();
  const session = await recorded();
  const { report, entered } = await enteredBy(() => replay(session, app));
  expect(report).toEqual({
    session: 's',
    events: session.events.length,
    divergence: undefined,
    divergences: [],
    undeclaredSteps: ['note'],
  });
  expect(entered).toEqual([]);
  expect(model.calls).toEqual([]);
});

describe('live models', () => {
  test('that answer the same do the same; tools are not run', async () => {
    const { app, model } = shop();
    const session = await recorded();
    const { report, entered } = await enteredBy(() => replay(session, app, { model: 'live' }));
    expect(report.divergence).toBeUndefined();
    expect(model.calls).toHaveLength(2);
    expect(entered).toEqual([]);
  });

  test('that answer something else are found where they do', async () => {
    const { app } = shop({ answers: [ask, { text: 'Three.' }] });
    const { divergence } = await replay(await recorded(), app, { model: 'live', patienceMs: 100 });
    expect(divergence).toMatchObject({
      path: 'run/clerk',
      kind: 'outcome',
      differences: [{ path: 'text', recorded: 'It is 3.', replayed: 'Three.' }],
    });
  });

  test('that call tools otherwise are found at the call', async () => {
    const { app } = shop({
      answers: [{ toolCalls: [{ name: 'price', args: { item: 'ink' } }] }, { text: 'It is 3.' }],
    });
    const { divergence } = await replay(await recorded(), app, { model: 'live', patienceMs: 100 });
    expect(divergence).toMatchObject({
      path: 'run/clerk',
      kind: 'arguments',
      differences: [{ path: 'args.item', recorded: 'pen', replayed: 'ink' }],
    });
  });
});

describe('live tools', () => {
  test('that give the same do the same, and are run', async () => {
    const session = await recorded();
    const { report, entered } = await enteredBy(() =>
      replay(session, shop().app, { tools: 'live' }),
    );
    expect(report.divergence).toBeUndefined();
    expect(entered).toEqual(['run/clerk/r1.0', 'run/note/pay']);
  });

  test('that give something else are found, and all that follows from it', async () => {
    const session = await recorded();
    const report = await replay(session, shop({ price: 4 }).app, {
      tools: 'live',
      patienceMs: 100,
    });
    expect(report.divergence).toMatchObject({
      kind: 'outcome',
      differences: [{ path: 'result.content', recorded: 3, replayed: 4 }],
    });
    expect(places(report)).toEqual([
      'outcome run/clerk',
      'prompt run/clerk',
      'outcome run/note',
      'state run/note',
    ]);
    expect(report.events).toBe((report.divergence?.seq ?? 0) - 1);
  });

  test('and live models together run the app anew against the record', async () => {
    const { app, model } = shop({ price: 4, answers: [ask, { text: 'It is 4.' }] });
    const report = await replay(await recorded(), app, {
      model: 'live',
      tools: 'live',
      patienceMs: 100,
    });
    expect(places(report)).toEqual([
      'outcome run/clerk',
      'prompt run/clerk',
      'outcome run/clerk',
      'control_flow run/clerk',
      // The step begins with the other answer of the agent before it.
      'control_flow run/note',
      'outcome run/note',
      'state run/note',
      'control_flow run',
    ]);
    expect(model.calls).toHaveLength(2);
  });
});

test('`until` ends the replay at an event', async () => {
  const session = await recorded();
  const changed = shop({ answers: [ask] }).app;
  const end = session.events.findIndex(({ type }) => type === 'model_end') + 1;
  expect(await replay(session, changed, { until: end })).toMatchObject({
    events: end,
    divergence: undefined,
  });
  for (let until = 1; until <= session.events.length; until++) {
    expect(await replay(session, shop().app, { until })).toMatchObject({
      events: until,
      divergence: undefined,
    });
  }
});

test('`normalize` takes out of both sides what may differ', async () => {
  const session = await recorded();
  const renamed = shop({ system: 'x' });
  const other = sequence({
    name: 'shop',
    runnables: [step({ name: 'clerk', execute: () => undefined })],
  });
  const normalize = (value: JsonValue): JsonValue =>
    JSON.parse(JSON.stringify(value).replaceAll(/"(agent|step)"/g, '"a kind"')) as JsonValue;
  expect((await replay(session, renamed.app, { normalize })).divergence).toBeUndefined();
  const app = runtime({ app: 'shop', recover: 'manual', runnables: [other] });
  const strict = await replay(session, app, { patienceMs: 50 });
  const loose = await replay(session, app, { patienceMs: 50, normalize });
  expect(strict.divergence).toMatchObject({
    subject: 'The start of the agent "clerk" differs in kind',
  });
  expect(loose.divergence?.seq).toBeGreaterThan(strict.divergence?.seq ?? 0);
});

/** A step that waits for work beside the clock of the record. */
function slowly(work: () => Promise<void>): Runtime {
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      await work();
      ctx.state['done'] = true;
    },
  });
  return runtime({ app: 'slow', recover: 'manual', runnables: [slow] });
}

test('`patienceMs` is how long code may take for something of its own', async () => {
  // Longer than the turns of the event loop that a replay takes for code at rest.
  const inTime = slowly(() => new Promise((resolve) => setTimeout(resolve, 60)));
  const never = slowly(() => new Promise(() => undefined));
  const record = recordedLedgerOf(
    (await runtime({ app: 'slow' }).run(slowStep(), { session: 's', input: 'Go' })).session,
  );
  expect((await replay(record, inTime, { patienceMs: 60_000 })).divergence).toBeUndefined();
  expect((await replay(record, never, { patienceMs: 1 })).divergence).toMatchObject({
    kind: 'control_flow',
    subject: expect.stringContaining('does not come'),
  });
});

function slowStep() {
  return step({
    name: 'slow',
    execute: (ctx) => {
      ctx.state['done'] = true;
    },
  });
}

test('`signal` ends the replay with its reason', async () => {
  const session = await recorded();
  await expect(
    replay(session, shop().app, { signal: AbortSignal.abort(new Error('enough')) }),
  ).rejects.toThrow('enough');
  const controller = new AbortController();
  const hanging = step({
    name: 'hanging',
    execute: () => new Promise<void>(() => setTimeout(() => controller.abort(new Error('now')), 0)),
  });
  const record = recordedLedgerOf(
    (
      await runtime({ app: 'x' }).run(step({ name: 'hanging', execute: () => undefined }), {
        session: 's',
        input: 'Go',
      })
    ).session,
  );
  const app = runtime({ app: 'x', recover: 'manual', runnables: [hanging] });
  await expect(
    replay(record, app, { signal: controller.signal, patienceMs: 60_000 }),
  ).rejects.toThrow('now');
});

test.each<[string, ReplayOptions]>([
  ['`model` must be', { model: 'none' as never }],
  ['`tools` must be', { tools: true as never }],
  ['`until` must be', { until: -1 }],
  ['`until` must be', { until: 1.5 }],
  ['`normalize` must be', { normalize: 'x' as never }],
  ['`patienceMs` must be', { patienceMs: 0 }],
  ['`signal` must be', { signal: {} as never }],
  ['there is no option `models`', { models: 'live' } as never],
])('a bad option is refused: %s', async (message, options) => {
  await expect(replay(await recorded(), shop().app, options)).rejects.toThrow(message);
});

test('what the app does not know any more is named', async () => {
  const session = await recorded();
  const { divergence } = await replay(session, runtime({ app: 'shop', recover: 'manual' }), {
    patienceMs: 50,
  });
  expect(divergence).toMatchObject({
    seq: 1,
    kind: 'control_flow',
    subject: expect.stringContaining('There is no runnable named "shop"'),
  });
});

test.each<[string, (events: readonly object[]) => readonly unknown[]]>([
  ['from the middle', (events) => events.slice(2)],
  ['in another order', (events) => [...events].reverse()],
  ['twice', (events) => [...events, ...events]],
  ['with a gap', (events) => events.filter((_, index) => index !== 3)],
  [
    'of a type that is not known',
    (events) => events.map((event) => ({ ...event, type: 'constructor' })),
  ],
  ['that are none', () => [null]],
])('events %s are refused', async (_name, changed) => {
  const record = recordedLedgerOf(await recorded());
  const events = changed(record.events) as typeof record.events;
  await expect(replay({ ...record, events }, shop().app)).rejects.toThrow(
    /the events of a ledger are numbered from 1 on/,
  );
});

test('an empty record is replayed as nothing', async () => {
  const record = { app: 'shop', tenant: 'default', session: 's', events: [], blobs: {} };
  expect(await replay(record, shop().app)).toEqual({
    session: 's',
    events: 0,
    divergence: undefined,
    divergences: [],
    undeclaredSteps: [],
  });
});

test('a replay leaves nothing behind: a process that replays exits by itself', async () => {
  const program = `
    import { agent, runtime, tool } from 'adjutant';
    import { replay } from 'adjutant/replay';
import { roundModel } from 'adjutant/testing';
    import { z } from 'zod';
    const define = (name) => agent({ name: 'a', model: roundModel([{ toolCalls: [{ name: 't' }] }, { text: 'done' }]),
      tools: [tool({ name, description: 'x', schema: z.object({}), timeoutMs: 600000, execute: () => 1 })] });
    const first = define('t');
    const { session } = await runtime({ app: 'x' }).run(first, 'Go');
    const app = (name) => runtime({ app: 'x', recover: 'manual', runnables: [define(name)] });
    const same = await replay(session, app('t'));
    const other = await replay(session, app('u'), { patienceMs: 10 });
    const stopped = await replay(session, app('t'), { until: 5 });
    console.log([same, other, stopped].map(({ divergence }) => divergence?.seq ?? 'none').join(' '));
  `;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    timeout: 100_000,
    cwd: import.meta.dirname,
  });
  expect((await run).stdout.trim()).toBe('none 3 none');
});
