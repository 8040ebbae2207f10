import { agent, type Event, memoryStore, runtime, type Store, tool } from 'adjutant';
import type { InboxItem, LedgerStore } from 'adjutant/store';
import { crashingStore, scriptedModel, takingOver } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const scope = { tenant: 'default', app: 'shop' };

function note(seq: number): Event {
  return {
    v: 1,
    seq,
    id: `e${seq}`,
    at: 1_790_000_000_000 + seq,
    type: 'user',
    by: 'user',
    text: `${seq}`,
  };
}

/** Tells if a promise has settled when all work that is ready has been done. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  promise.then(settle, settle);
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  return settled;
}

async function write(ledgers: LedgerStore, epoch: number, seq: number): Promise<unknown> {
  return ledgers.append('s', { seq: seq - 1, epoch }, { events: [note(seq)] });
}

async function seqs(store: Store): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const page of store.for(scope).read('s')) found.push(...page.map(({ seq }) => seq));
  return found;
}

test.each([
  { when: 'before', left: [1] },
  { when: 'after', left: [1, 2] },
] as const)('stops right $when an append, whose answer never comes', async ({ when, left }) => {
  const store = memoryStore();
  const crashing = crashingStore(store, 2, when);
  const ledgers = crashing.store.for(scope);
  const { epoch } = await ledgers.claim('s', 'old', { ttlMs: 1_000 });
  await write(ledgers, epoch, 1);
  expect(crashing.isGone).toBe(false);
  const second = write(ledgers, epoch, 2);
  await crashing.crashed;
  expect(crashing).toMatchObject({ isGone: true, appends: 2 });
  expect(await hasSettled(second)).toBe(false);
  expect(await seqs(store)).toEqual(left);
});

test(
  'answers nothing after crash(), not even errors, listings and pages, and does nothing any ' +
    'more',
  async () => {
    const store = memoryStore();
    const { store: crashing, crash } = crashingStore(store);
    const ledgers = crashing.for(scope);
    const { epoch } = await ledgers.claim('s', 'old', { ttlMs: 1_000 });
    await write(ledgers, epoch, 1);
    const pages = ledgers.read('s')[Symbol.asyncIterator]();
    await pages.next();
    await crash();
    const item: InboxItem = { key: 'k', lane: 'input', by: 'user', at: 1, type: 'user', data: {} };
    const asked = [
      write(ledgers, epoch, 2),
      ledgers.post('s', item),
      ledgers.head('nobody'),
      ledgers.getBlob('none'),
      crashing.admin.due(),
      pages.next(),
      ledgers.read('s')[Symbol.asyncIterator]().next(),
      ledgers.follow('s', 0, new AbortController().signal)[Symbol.asyncIterator]().next(),
    ];
    expect(await Promise.all(asked.map(hasSettled))).toEqual(asked.map(() => false));
    expect(await seqs(store)).toEqual([1]);
    expect(await store.for(scope).inbox('s')).toEqual([]);
  },
);

test(
  'what is under way at crash() lands before the next process begins, and its answer never ' +
    'comes',
  async () => {
    const store = memoryStore();
    const landing = Promise.withResolvers<void>();
    const slow: Store = {
      ...store,
      for: (of) =>
        new Proxy(store.for(of), {
          get: (target, name) => {
            if (name !== 'append')
              return (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target);
            return async (...args: Parameters<LedgerStore['append']>) => {
              await landing.promise;
              return target.append(...args);
            };
          },
        }),
    };
    const crashing = crashingStore(slow);
    const ledgers = crashing.store.for(scope);
    const { epoch } = await ledgers.claim('s', 'old', { ttlMs: 1_000 });
    const written = write(ledgers, epoch, 1);
    const gone = crashing.crash();
    expect(await hasSettled(gone)).toBe(false);
    landing.resolve();
    await gone;
    expect(await seqs(store)).toEqual([1]);
    expect(await hasSettled(written)).toBe(false);
  },
);

test(
  'a store that takes over does not wait for a lease; the one that is gone ' + 'is fenced',
  async () => {
    const store = memoryStore();
    const ledgers = store.for(scope);
    const old = await ledgers.claim('s', 'old', { ttlMs: 60_000 });
    await expect(ledgers.claim('s', 'new', { ttlMs: 60_000 })).rejects.toMatchObject({
      code: 'session_busy',
    });
    await takingOver(store).for(scope).claim('s', 'new', { ttlMs: 60_000 });
    await expect(write(ledgers, old.epoch, 1)).rejects.toMatchObject({ code: 'ledger_conflict' });
  },
);

test('closing either leaves the store open', async () => {
  const store = memoryStore();
  await crashingStore(store).store.close();
  await takingOver(store).close();
  expect(await store.for(scope).list()).toEqual([]);
});

test(
  'a run that is cut off in a tool goes on in a new process, which is told that the outcome ' +
    'is unknown',
  async () => {
    const store = memoryStore();
    let entered = 0;
    const held = Promise.withResolvers<void>();
    const define = (execute: () => Promise<string>) =>
      agent({
        name: 'payer',
        model: scriptedModel((prompt) =>
          prompt.at(-1)?.role === 'tool' ? { text: 'told' } : { toolCalls: [{ name: 'pay' }] },
        ),
        tools: [
          tool({
            name: 'pay',
            description: 'Pays',
            schema: z.object({}),
            recovery: 'report',
            execute,
          }),
        ],
      });
    const crashing = crashingStore(store);
    const old = runtime({ app: 'shop', store: crashing.store, recover: 'manual' });
    const { promise: inTool, resolve: isInTool } = Promise.withResolvers<void>();
    const execute = (): Promise<string> => {
      entered++;
      isInTool();
      return held.promise.then(() => 'paid');
    };
    const run = old.run(define(execute), { session: 's', input: 'pay', runId: 'run' });
    void Promise.resolve(run).catch(() => undefined);
    await inTool;
    await crashing.crash();
    held.resolve();
    const app = runtime({
      app: 'shop',
      store: takingOver(store),
      runnables: [define(execute)],
      recover: 'manual',
    });
    const result = await app.resume('s');
    expect(result).toMatchObject({ status: 'completed', output: 'told' });
    expect(result.session.events.find((event) => event.type === 'tool_result')).toMatchObject({
      effect: 'unknown',
    });
    expect(entered).toBe(1);
    await app.close();
  },
);

test('what it cannot work with is refused', () => {
  expect(() => crashingStore(memoryStore(), 0)).toThrow(
    'crashingStore() cannot be set up: `number` must be a whole number from 1, not 0.',
  );
  expect(() => crashingStore(memoryStore(), 1, 'during' as 'before')).toThrow(
    "`when` must be one of 'before', 'after', not \"during\"",
  );
});
