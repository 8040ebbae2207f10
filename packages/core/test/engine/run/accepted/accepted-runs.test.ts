import { agent, memoryStore, type Run, type Store, step, tool } from 'adjutant';
import { eventually, roundModel } from 'adjutant/testing';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { app, apps, holds, storedEvents, textsOf } from './held-app.ts';

afterEach(async () => {
  // An app that closes waits for tools that still work.
  for (const goOn of holds.splice(0)) goOn();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** Waits until the ledger has this many messages. */
async function messages(store: Store, session: string, count: number): Promise<void> {
  let seen = 0;
  for await (const { type } of store
    .for({ tenant: 'default', app: 'accepted' })
    .follow(session, 0, new AbortController().signal)) {
    if (type === 'user' && ++seen === count) return;
  }
}

/** An agent whose tool waits until it is told to go on. */
function holding() {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  holds.push(goOn.resolve);
  const hold = tool({
    name: 'hold',
    description: 'Waits',
    schema: z.object({}),
    recovery: 'rerun',
    execute: async () => {
      begun.resolve();
      await goOn.promise;
    },
  });
  const runnable = agent({
    name: 'holding',
    model: roundModel([{ toolCalls: [{ name: 'hold', args: {} }] }, { text: 'held' }]),
    tools: [hold],
  });
  return { runnable, begun: begun.promise, goOn: () => goOn.resolve() };
}

/** A store whose appends wait until they are let through. */
function slow(store: Store): {
  readonly store: Store;
  readonly letThrough: () => void;
  readonly appends: () => number;
} {
  const gate = Promise.withResolvers<void>();
  let appends = 0;
  const wrapped: Store = {
    description: store.description,
    admin: store.admin,
    close: () => store.close(),
    for: (scope) =>
      new Proxy(store.for(scope), {
        get: (target, name) => {
          const method = Reflect.get(target, name) as unknown;
          if (typeof method !== 'function') return method;
          if (name !== 'append') return method.bind(target);
          return async (...given: unknown[]) => {
            appends++;
            await gate.promise;
            return Reflect.apply(method, target, given) as unknown;
          };
        },
      }),
  };
  return { store: wrapped, letThrough: () => gate.resolve(), appends: () => appends };
}

/** Tells whether a promise is settled once everything that could have settled it had its turn. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(open)])) !== open;
}

test('a run is accepted when its start is stored, and not before', async () => {
  const memory = memoryStore();
  const { store, letThrough, appends } = slow(memory);
  const { runnable, begun, goOn } = holding();
  const run = app(store).run(runnable, { session: 's', runId: 'order-17', input: 'Go' });
  const accepted = run.accepted();
  await eventually(() => appends() === 1);
  expect(await isSettled(accepted)).toBe(false);
  letThrough();
  expect(await accepted).toEqual({ session: 's', runId: 'order-17' });
  const events = await storedEvents(memory, 's');
  expect(events.find(({ type }) => type === 'invocation_start')).toMatchObject({
    invocationId: 'order-17',
    mode: 'root',
  });
  expect(textsOf(events)).toEqual(['Go']);
  await begun;
  goOn();
  expect(await run).toMatchObject({ status: 'completed' });
  expect(await run.accepted()).toEqual({ session: 's', runId: 'order-17' });
});

test('a run is accepted in a session of its own making, under the name that it got', async () => {
  const run = app(memoryStore()).run(
    step({ name: 'quick', execute: (ctx) => ctx.complete('done') }),
  );
  const { session, runId } = await run.accepted();
  const result = await run;
  expect({ session, runId }).toEqual({ session: result.session.id, runId: result.runId });
});

test('a run that fails has been accepted', async () => {
  const failing = step({
    name: 'failing',
    execute: () => {
      throw new Error('no');
    },
  });
  const run = app(memoryStore()).run(failing, { session: 's' });
  expect(await run.accepted()).toMatchObject({ session: 's' });
  expect(await run).toMatchObject({ status: 'error' });
});

test('what cannot be carried out is not accepted, and nobody has to await that', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const made = app(memoryStore());
    const run = made.resume('nowhere');
    void run.accepted();
    await expect(run.accepted()).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(run).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(run.accepted()).rejects.toMatchObject({ code: 'session_not_found' });
    const other = made.resume('nowhere');
    void other.accepted();
    await other.settled();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('a run that is stopped afterwards stays accepted', async () => {
  const { runnable, begun } = holding();
  const run = app(memoryStore()).run(runnable, { session: 's', runId: 'r', input: 'Go' });
  await begun;
  run.stop();
  await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
  expect(await run.accepted()).toEqual({ session: 's', runId: 'r' });
});

test('a start that the store refuses is not accepted', async () => {
  const memory = memoryStore();
  const { store, letThrough, appends } = slow(memory);
  const { runnable } = holding();
  const run = app(store).run(runnable, { session: 's', input: 'Go' });
  const accepted = run.accepted();
  await eventually(() => appends() === 1);
  await memory
    .for({ tenant: 'default', app: 'accepted' })
    .claim('s', 'other', { ttlMs: 30_000, force: true });
  letThrough();
  await expect(accepted).rejects.toMatchObject({ code: 'ledger_conflict' });
  await expect(run).rejects.toMatchObject({ code: 'ledger_conflict' });
});

test('a message to an open run is accepted for that run', async () => {
  const store = memoryStore();
  const first = holding();
  const stopped = app(store).run(first.runnable, { session: 's', runId: 'open', input: 'Go' });
  await first.begun;
  stopped.stop();
  await stopped.settled();
  const second = holding();
  const run = app(store).run(second.runnable, { session: 's', input: 'And this' });
  expect(await run.accepted()).toEqual({ session: 's', runId: 'open' });
  expect(textsOf(await storedEvents(store, 's'))).toEqual(['Go', 'And this']);
  second.goOn();
  expect(await run).toMatchObject({ status: 'completed', runId: 'open' });
});

test('who joins a run of this process is accepted with it', async () => {
  const store = memoryStore();
  const made = app(store);
  const { runnable, begun, goOn } = holding();
  const run = made.run(runnable, { session: 's', runId: 'open', input: 'Go' });
  await begun;
  const joining = [
    made.run(runnable, { session: 's', input: 'And this' }),
    made.resume('s'),
    made.run(runnable, { session: 's', runId: 'open', input: 'Go' }),
  ];
  for (const joined of joining)
    expect(await joined.accepted()).toEqual({ session: 's', runId: 'open' });
  goOn();
  for (const joined of [run, ...joining])
    expect(await joined).toMatchObject({ status: 'completed', runId: 'open' });
  expect(textsOf(await storedEvents(store, 's'))).toEqual(['Go', 'And this']);
});

/** A session that is held by one runtime, and another runtime that would run on it. */
async function heldElsewhere() {
  const store = memoryStore();
  const worker = holding();
  const holder = app(store);
  const running = holder.run(worker.runnable, { session: 's', runId: 'open', input: 'Go' });
  await running.accepted();
  await worker.begun;
  const other = holding();
  return { store, worker, running, other, second: app(store, { runnables: [other.runnable] }) };
}

test(
  'what is left for the process that holds the session is accepted when it is ' + 'stored there',
  async () => {
    const { store, worker, running, other, second } = await heldElsewhere();
    const posted = second.run(other.runnable, { session: 's', input: 'And this' });
    expect(await posted.accepted()).toEqual({ session: 's', runId: 'open' });
    const looking = second.resume('s');
    expect(await looking.accepted()).toEqual({ session: 's', runId: 'open' });
    await messages(store, 's', 2);
    worker.goOn();
    expect(await running).toMatchObject({ status: 'completed' });
    expect(await posted).toMatchObject({ status: 'completed', runId: 'open' });
    expect(await looking).toMatchObject({ runId: 'open' });
    expect(textsOf(await storedEvents(store, 's'))).toEqual(['Go', 'And this']);
  },
);

test(
  'a run that is asked for again under its name is the same run, also where another process ' +
    'has the session',
  async () => {
    const { store, worker, running, other, second } = await heldElsewhere();
    const again = second.run(other.runnable, { session: 's', runId: 'open', input: 'Go' });
    expect(await again.accepted()).toEqual({ session: 's', runId: 'open' });
    worker.goOn();
    await running;
    expect(await again).toMatchObject({ status: 'completed', output: 'held', runId: 'open' });
    expect(textsOf(await storedEvents(store, 's'))).toEqual(['Go']);
  },
);

test(
  'a run that has ended is given again under its name while another one has ' + 'the session',
  async () => {
    const store = memoryStore();
    const made = app(store);
    const { runnable, begun, goOn } = holding();
    const say = step({ name: 'say', execute: (ctx) => ctx.complete('said') });
    expect(await app(store).run(say, { session: 's', runId: 'old', input: 'Hello' })).toMatchObject(
      {
        output: 'said',
      },
    );
    const running = made.run(runnable, { session: 's', runId: 'open', input: 'Go' });
    await running.accepted();
    await begun;
    const asking: readonly Run[] = [made, app(store)].map(
      (one) => one.run(say, { session: 's', runId: 'old', input: 'Hello' }) as Run,
    );
    for (const again of asking) {
      expect(await again.accepted()).toEqual({ session: 's', runId: 'old' });
      expect(await again).toMatchObject({ status: 'completed', output: 'said', runId: 'old' });
    }
    goOn();
    await running;
    expect(textsOf(await storedEvents(store, 's'))).toEqual(['Hello', 'Go']);
  },
);

test(
  'two messages under one name are two messages to the process that has ' + 'the session',
  async () => {
    const { store, worker, running, other, second } = await heldElsewhere();
    const asked = ['this', 'that', 'this'].map((input) =>
      second.run(other.runnable, { session: 's', runId: 'more', input }),
    );
    for (const run of asked) expect(await run.accepted()).toEqual({ session: 's', runId: 'open' });
    await messages(store, 's', 3);
    worker.goOn();
    await running;
    for (const run of asked) await run;
    expect([...textsOf(await storedEvents(store, 's'))].sort()).toEqual(['Go', 'that', 'this']);
  },
);
