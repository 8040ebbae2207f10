import {
  agent,
  type Event,
  memoryStore,
  type Run,
  type Runtime,
  runtime,
  type Store,
  step,
  tool,
} from 'adjutant';
import type { Batch, Head, LedgerStore } from 'adjutant/store';
import { eventually, roundModel } from 'adjutant/testing';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';

const apps: Runtime[] = [];
const holds: (() => void)[] = [];

afterEach(async () => {
  // An app that closes waits for tools that still work.
  for (const goOn of holds.splice(0)) goOn();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

function app(store: Store, more: Partial<Parameters<typeof runtime>[0]> = {}): Runtime {
  const made = runtime({ app: 'accepted', store, recover: 'manual', ...more });
  apps.push(made);
  return made;
}

async function storedEvents(store: Store, session: string): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of store.for({ tenant: 'default', app: 'accepted' }).read(session))
    events.push(...page);
  return events;
}

/** Waits until the ledger has this many messages. */
async function messages(store: Store, session: string, count: number): Promise<void> {
  let seen = 0;
  for await (const { type } of store
    .for({ tenant: 'default', app: 'accepted' })
    .follow(session, 0, new AbortController().signal)) {
    if (type === 'user' && ++seen === count) return;
  }
}

const textsOf = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'user' ? [event.text] : []));

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

/** A store that notes what is appended. */
function noting(store: Store, batches: Batch[]): Store {
  const wrap = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...given: unknown[]) => {
          if (name === 'append') batches.push(given[2] as Batch);
          return Reflect.apply(method, target, given) as unknown;
        };
      },
    });
  return {
    description: store.description,
    admin: store.admin,
    close: () => store.close(),
    for: (scope) => wrap(store.for(scope)),
  };
}

/** Whether a promise is settled once everything that could have settled it had its turn. */
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

test('what a run begins with is not lost when it has to be left in the inbox', async () => {
  const store = memoryStore();
  const ledgers = store.for({ tenant: 'default', app: 'accepted' });
  const held = await ledgers.claim('s', 'other', { ttlMs: 30_000 });
  const greet = step({ name: 'greet', execute: (ctx) => ctx.complete('greeted') });
  const made = app(store, { runnables: [greet] });
  const asked = [
    made.run(greet, { session: 's', runId: 'r', data: { name: 'Ann' } }),
    app(store, { runnables: [greet] }).run(greet, {
      session: 's',
      runId: 'q',
      input: 'Hello',
      data: { name: 'Bob' },
    }),
  ];
  expect(await Promise.all(asked.map((run) => run.accepted()))).toEqual([
    { session: 's', runId: 'r' },
    { session: 's', runId: 'q' },
  ]);
  // Those who asked are gone.
  for (const run of asked) run.stop();
  for (const run of asked) await run.settled();
  await ledgers.release(held);
  const batches: Batch[] = [];
  const worker = app(noting(store, batches), { runnables: [greet] });
  for (
    let found = await worker.recovery.resumeStopped();
    found.length > 0;
    found = await worker.recovery.resumeStopped()
  )
    for (const run of found) await run;
  const starts = (await storedEvents(store, 's')).filter(({ type }) => type === 'invocation_start');
  expect(starts).toMatchObject([
    { invocationId: 'r', input: { data: { name: 'Ann' } } },
    { invocationId: 'q', input: { data: { name: 'Bob' } } },
  ]);
  expect(textsOf(await storedEvents(store, 's'))).toEqual(['Hello']);
  expect(await ledgers.due()).toEqual([]);
  // A crash between the two would lose it.
  const taking = batches.filter(({ consumes = [] }) => consumes.length > 0);
  expect(
    taking.map(({ events }) => events.some(({ type }) => type === 'invocation_start')),
  ).toEqual([true, true]);
});

test(
  'a run that was left in an inbox and begun by its name meanwhile is not ' + 'begun twice',
  async () => {
    const store = memoryStore();
    const ledgers = store.for({ tenant: 'default', app: 'accepted' });
    const held = await ledgers.claim('s', 'other', { ttlMs: 30_000 });
    const greet = step({ name: 'greet', execute: (ctx) => ctx.complete('greeted') });
    const first = app(store).run(greet, { session: 's', runId: 'r', input: 'Hello' });
    await first.accepted();
    first.stop();
    await first.settled();
    await ledgers.release(held);
    const other = app(store, { runnables: [greet] });
    await other.run(greet, { session: 's', runId: 'r', input: 'Hello' });
    for (const run of await other.recovery.resumeStopped()) await run;
    const events = await storedEvents(store, 's');
    expect(events.filter(({ type }) => type === 'invocation_start')).toHaveLength(1);
    expect(textsOf(events)).toEqual(['Hello']);
    expect(await ledgers.due()).toEqual([]);
  },
);

test(
  'a message that comes while a run goes to rest is not lost with the process that has taken ' +
    'it in',
  async () => {
    const store = memoryStore();
    const ledgers = store.for({ tenant: 'default', app: 'accepted' });
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ answer: z.string() }),
    });
    let asked = 0;
    const begun = Promise.withResolvers<void>();
    const never = new Promise<never>(() => undefined);
    const answers = roundModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'never' }]);
    const doStream: typeof answers.doStream = async (options) => {
      if (++asked < 2) return answers.doStream(options);
      begun.resolve();
      return never;
    };
    const asking = agent({ name: 'asking', model: { ...answers, doStream }, tools: [ask] });
    const taken = Promise.withResolvers<void>();
    // Posts an answer right before the session is given back.
    const late: Store = {
      ...store,
      for: (scope) =>
        new Proxy(store.for(scope), {
          get: (target, name) => {
            const method = Reflect.get(target, name) as unknown;
            if (typeof method !== 'function') return method;
            if (name === 'append') {
              return async (session: string, expected: Head, batch: Batch) => {
                const receipt = await target.append(session, expected, batch);
                if (batch.events.some(({ type }) => type === 'tool_input')) taken.resolve();
                return receipt;
              };
            }
            if (name !== 'release') return method.bind(target);
            return async (...given: unknown[]) => {
              const [request] = await target.requests({ status: 'pending' });
              if (request !== undefined) {
                const { requestId } = request;
                const data = { requestId, decision: 'answer', input: { answer: 'red' } };
                await target.post('s', {
                  key: 'late',
                  lane: 'input',
                  by: 'user',
                  at: 1,
                  type: 'tool_input',
                  data,
                  settles: requestId,
                });
              }
              return Reflect.apply(method, target, given) as unknown;
            };
          },
        }),
    };
    const run = app(late).run(asking, { session: 's', input: 'Go' });
    await begun.promise;
    await taken.promise;
    // As when its process is gone: nobody holds the session.
    const claim = await ledgers.claim('s', 'next', { ttlMs: 30_000, force: true });
    await ledgers.release(claim);
    expect((await ledgers.due()).map(({ session }) => session)).toEqual(['s']);
    run.stop();
    await run.settled();
  },
);
