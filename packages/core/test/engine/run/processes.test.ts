import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Event, memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestProcess } from '../../crash/child-process.ts';
import { type Effect, EffectFile, readEffects } from '../../crash/effect-file.ts';
import { processRunnables } from '../../crash/process-runnables.ts';
import { connect, type StoreAddress } from '../../crash/worker-store.ts';
import { newSchema, reasonToSkip, serverUrl } from '../../stores/postgres/server.ts';

const session = 's';
/** Short, so that a process that is silent can be taken over from soon. */
const shortLease = 1_000;
const longLease = 30_000;
const children: TestProcess[] = [];
const apps: Runtime[] = [];
let directory: string;
let effects: string;
let ownEffects: EffectFile;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-processes-'));
  effects = join(directory, 'effects.jsonl');
  writeFileSync(effects, '');
  ownEffects = new EffectFile(effects);
});

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  await Promise.all(apps.splice(0).map((app) => app.close()));
  ownEffects.close();
  rmSync(directory, { recursive: true, force: true });
});

function file(): StoreAddress {
  return { file: join(directory, 'store.db') };
}

function start(store: StoreAddress, runnable: string, lease: number = longLease): TestProcess {
  const child = new TestProcess({ store, runnable, session, effects, lease });
  children.push(child);
  return child;
}

/** This process, with the same runnables; what waits in the other one does not wait here. */
function here(
  address: StoreAddress,
  options: { recover?: 'auto' | 'manual'; named?: readonly string[] } = {},
) {
  const said: string[] = [];
  const ports = {
    session,
    say: (what: string) => void said.push(what),
    goOn: Promise.resolve(),
    effects: ownEffects,
  };
  const runnables = processRunnables(ports);
  const { recover = 'manual', named = Object.keys(runnables) } = options;
  const store = connect(address);
  const registered = named.flatMap((name) => runnables[name] ?? []);
  const app = runtime({ app: 'processes', store, runnables: registered, recover });
  apps.push(app);
  return { app, store, runnables, said };
}

async function storedEvents(store: Store): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of store.for({ tenant: 'default', app: 'processes' }).read(session))
    events.push(...page);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  return events;
}

/** Waits until the ledger has an event, whoever writes it. */
async function seen(store: Store, matches: (event: Event) => boolean): Promise<Event> {
  for await (const event of store
    .for({ tenant: 'default', app: 'processes' })
    .follow(session, 0, new AbortController().signal)) {
    if (matches(event)) return event;
  }
  throw new Error('The ledger could not be followed any more.');
}

const isEndOfRun = (event: Event): boolean =>
  event.type === 'invocation_end' && event.invocationId === 'run';
const callsOf = (done: readonly Effect[]): readonly string[] =>
  done.map(({ callId }) => callId).sort();

describe.each([
  ['SQLite', undefined],
  ['PostgreSQL', reasonToSkip],
])(
  'a process that is stopped and wakes up when another has finished its run, on %s',
  (storeName, skipped) => {
    const schema = newSchema();
    const address = (): StoreAddress =>
      storeName === 'SQLite' ? file() : { url: serverUrl, schema: schema.name };

    afterEach(async () => {
      if (storeName === 'PostgreSQL' && skipped === undefined) await schema.drop();
    });

    test.skipIf(skipped !== undefined).each([
      ['in a tool', 'holding', 'the tool waits', ['run/r1.0', 'run/r3.0']],
      ['in a model call', 'musing', 'the model waits', ['run/r1.0']],
    ])(
      '%s writes nothing, does nothing and ends with the result of the other',
      async (_where, runnable, waits, calls) => {
        const zombie = start(address(), runnable, shortLease);
        const { app, store } = here(address());
        await zombie.says(waits);
        // A process that has left nothing has nothing to continue.
        await seen(store, ({ type }) => type === 'model_start');
        zombie.signal('SIGSTOP');
        const result = await app.resume(session);
        expect(result.status).toBe('completed');
        const before = await storedEvents(store);
        zombie.signal('SIGCONT');
        zombie.goOn();
        expect(await zombie.ended()).toBe(0);
        expect(zombie.said.at(-1)).toBe('ended as completed');
        expect(zombie.complaints).toBe('');
        expect(await storedEvents(store)).toEqual(before);
        expect(callsOf(readEffects(effects))).toEqual(calls);
      },
    );
  },
);

test(
  'a cancel from another process stops the model and the tools, once, and says who wanted it ' +
    'and why',
  async () => {
    const worker = start(file(), 'busy');
    await worker.says('the model waits');
    await worker.says('the tool waits');
    const { app, store } = here(file());
    await app.cancel(session, { by: 'user:ann', reason: 'enough' });
    // Neither would ever end by itself.
    await worker.says('ended as cancelled');
    expect(await worker.ended()).toBe(0);
    expect([...worker.said].sort()).toEqual([
      'ended as cancelled',
      'the model aborted',
      'the model waits',
      'the tool aborted',
      'the tool waits',
    ]);
    const events = await storedEvents(store);
    expect(events.filter(({ type }) => type === 'cancel')).toMatchObject([
      { by: 'user:ann', reason: 'enough', invocationId: 'run' },
    ]);
    const ends = events.flatMap((event) =>
      event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
    );
    expect(ends.slice(0, 2).sort()).toEqual(['run/musing cancelled', 'run/patient cancelled']);
    expect(ends.slice(2)).toEqual(['run cancelled']);
    expect(readEffects(effects)).toEqual([]);
  },
);

test(
  'a run on a session that another process holds leaves its input there and gets ' + 'the result',
  async () => {
    const worker = start(file(), 'holding');
    await worker.says('the tool waits');
    const { app, store, runnables } = here(file());
    const run = app.run(runnables['holding'] as never, { session, input: 'And this' });
    await seen(store, (event) => event.type === 'user' && event.text === 'And this');
    worker.goOn();
    expect(await run).toMatchObject({ status: 'completed', output: 'held', runId: 'run' });
    await worker.says('ended as completed');
    const events = await storedEvents(store);
    expect(events.flatMap((event) => (event.type === 'user' ? [event.text] : []))).toEqual([
      'Go',
      'And this',
    ]);
    // Nobody else has worked on the session.
    expect(
      new Set(events.flatMap((event) => (event.type === 'tool_attempt' ? [event.epoch] : []))),
    ).toEqual(new Set([1]));
    expect(callsOf(readEffects(effects))).toEqual(['run/r1.0', 'run/r3.0']);
  },
);

test('an answer from another process continues its branch while the others work', async () => {
  const worker = start(file(), 'questioning');
  await worker.says('the tool waits');
  const { app, store } = here(file());
  const asked = await seen(store, ({ type }) => type === 'tool_yield');
  const { requestId } = asked as Extract<Event, { type: 'tool_yield' }>;
  await app.requests.answer(requestId, {
    decision: 'answer',
    input: { answer: 'red' },
    by: 'user:ann',
  });
  await worker.says('the answer is here');
  await seen(
    store,
    (event) => event.type === 'invocation_end' && event.invocationId === 'run/asking',
  );
  expect(worker.said).not.toContain('ended as completed');
  worker.goOn();
  await worker.says('ended as completed');
  const events = await storedEvents(store);
  expect(events.filter(({ type }) => type === 'tool_input')).toMatchObject([
    { by: 'user:ann', input: { answer: 'red' } },
  ]);
  expect(events.filter(({ type }) => type === 'invocation_yield')).toEqual([]);
});

describe('a run whose process was killed', () => {
  test('is continued by a process that is started later, without being told', async () => {
    const worker = start(file(), 'holding');
    await worker.says('the tool waits');
    await worker.kill();
    const { store } = here(file(), { recover: 'auto' });
    expect(await seen(store, isEndOfRun)).toMatchObject({ status: 'completed', output: 'held' });
    expect(callsOf(readEffects(effects))).toEqual(['run/r1.0', 'run/r3.0']);
  });

  test('is continued by a process that was there before, without being told', async () => {
    const { store } = here(file(), { recover: 'auto' });
    const worker = start(file(), 'holding');
    await worker.says('the tool waits');
    await worker.kill();
    expect(await seen(store, isEndOfRun)).toMatchObject({ status: 'completed', output: 'held' });
    expect(callsOf(readEffects(effects))).toEqual(['run/r1.0', 'run/r3.0']);
  });

  test(
    'stays as it is where its runnable is not registered, which a warning says, and goes on ' +
      'where it is',
    async () => {
      const worker = start(file(), 'holding');
      await worker.says('the tool waits');
      await worker.kill();
      const warned = new Promise<Error & { code?: string }>((resolve) =>
        process.once('warning', resolve),
      );
      const without = here(file(), { recover: 'auto', named: ['patient'] });
      expect(await warned).toMatchObject({
        name: 'AdjutantWarning',
        code: 'unknown_runnable',
        message: expect.stringContaining(`"${session}"`),
      });
      const before = await storedEvents(without.store);
      await expect(without.app.resume(session)).rejects.toMatchObject({
        code: 'unknown_runnable',
        data: { name: 'holding' },
      });
      expect(await storedEvents(without.store)).toEqual(before);
      const { app } = here(file());
      expect(await app.resume(session)).toMatchObject({ status: 'completed', output: 'held' });
      expect(callsOf(readEffects(effects))).toEqual(['run/r1.0', 'run/r3.0']);
    },
  );
});

test('a lease that is too short to be kept is refused', () => {
  const store = memoryStore();
  for (const ttl of [0, 99, Number.POSITIVE_INFINITY, Number.NaN]) {
    expect(() => runtime({ app: 'processes', store, lease: { ttlMs: ttl } })).toThrow(
      expect.objectContaining({ code: 'invalid_runtime' }),
    );
  }
});
