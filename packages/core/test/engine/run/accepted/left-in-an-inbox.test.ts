import { agent, memoryStore, type Store, step, tool } from 'adjutant';
import type { Batch, Head, LedgerStore } from 'adjutant/store';
import { roundModel } from 'adjutant/testing';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { app, apps, holds, storedEvents, textsOf } from './held-app.ts';

afterEach(async () => {
  // An app that closes waits for tools that still work.
  for (const goOn of holds.splice(0)) goOn();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

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
