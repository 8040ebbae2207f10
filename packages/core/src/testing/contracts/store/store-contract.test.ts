import { spawnSync } from 'node:child_process';
import { AdjutantError, memoryStore, type Store } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { type LeftOut, storeContract } from 'adjutant/testing';
import { expect, test } from 'vitest';

interface Outcome {
  readonly name: string;
  readonly error?: unknown;
  readonly skipped?: string;
}

/** Runs the contract by a runner of its own, which keeps the outcome of each test. */
async function outcomes(
  make: () => Store,
  { skip, limit = 30_000 }: { readonly skip?: LeftOut; readonly limit?: number } = {},
): Promise<readonly Outcome[]> {
  const defined: { name: string; run: (...context: unknown[]) => Promise<void> }[] = [];
  const groups: string[] = [];
  const describe = (name: string, define: () => void): void => {
    groups.push(name);
    define();
    groups.pop();
  };
  const runner = {
    describe,
    test: (name: string, run: (...context: unknown[]) => Promise<void>) =>
      void defined.push({ name: [...groups, name].join(' > '), run }),
  };
  const makeStore = async () => {
    const store = make();
    return { store, cleanup: () => store.close() };
  };
  await storeContract('a store', makeStore, { runner, ...(skip && { skip }) });
  const found: Outcome[] = [];
  for (const { name, run } of defined) {
    let skipped: string | undefined;
    const skip = (reason: string): void => {
      skipped = reason;
    };
    const hanging = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error('it hangs')), limit).unref();
    });
    hanging.catch(() => undefined);
    const error = await Promise.race([run({ skip }), hanging]).then(
      () => undefined,
      (thrown: unknown) => thrown ?? new Error('nothing was thrown'),
    );
    found.push({
      name,
      ...(error === undefined ? {} : { error }),
      ...(skipped === undefined ? {} : { skipped }),
    });
  }
  return found;
}

function failures(found: readonly Outcome[]): readonly string[] {
  return found.flatMap(({ name, error }) => (error === undefined ? [] : [name]));
}

type Method<Name extends keyof LedgerStore> = (
  ledgers: LedgerStore,
  ...args: Parameters<Required<LedgerStore>[Name]>
) => ReturnType<Required<LedgerStore>[Name]>;

/** Makes a store in memory with one method that breaks a rule. */
function broken<Name extends keyof LedgerStore>(name: Name, method: Method<Name>): () => Store {
  return () => {
    const store = memoryStore();
    const wrap = (ledgers: LedgerStore): LedgerStore =>
      new Proxy(ledgers, {
        get: (target, asked) => {
          if (asked === name)
            return (...args: Parameters<Required<LedgerStore>[Name]>) => method(target, ...args);
          return (Reflect.get(target, asked) as (...args: unknown[]) => unknown).bind(target);
        },
      });
    return {
      description: store.description,
      admin: store.admin,
      for: (scope) => wrap(store.for(scope)),
      close: () => store.close(),
    };
  };
}

const sessionsOf = new WeakMap<LedgerStore, Map<string, number>>();

test.each<[rule: string, make: () => Store, caught: RegExp]>([
  [
    'a wrong head is refused',
    broken('append', async (ledgers, session, expected, batch) => {
      const head = await ledgers.head(session);
      const seq = head?.seq ?? expected.seq;
      const events = batch.events.map((event, i) => ({ ...event, seq: seq + i + 1 }));
      return ledgers.append(session, { ...expected, seq }, { ...batch, events });
    }),
    /refuses another head|twice|another batch/,
  ],
  [
    'an old writer is fenced',
    broken('append', async (ledgers, session, expected, batch) => {
      const head = await ledgers.head(session);
      return ledgers.append(session, { ...expected, epoch: head?.epoch ?? expected.epoch }, batch);
    }),
    /fencing/,
  ],
  [
    'a batch that is sent again lands once',
    broken('append', async (ledgers, session, expected, batch) => {
      const head = await ledgers.head(session);
      if (head !== undefined && head.seq > expected.seq)
        throw new AdjutantError('ledger_conflict', 'Sent again.', {});
      return ledgers.append(session, expected, batch);
    }),
    /the same batch sent again > succeeds/,
  ],
  [
    'a batch lands whole or not at all',
    broken('append', async (ledgers, session, expected, batch) => {
      const { events, ...rest } = batch;
      const receipt = await ledgers.append(session, expected, { events });
      return ledgers.append(session, receipt, { ...rest, events: [] });
    }),
    /nothing of (it|the batch) is written|of an append that is refused|sent again/,
  ],
  [
    'a live lease keeps others out',
    broken('claim', (ledgers, session, owner, options) =>
      ledgers.claim(session, owner, { ...options, force: true }),
    ),
    /is refused while the lease of another owner is live/,
  ],
  [
    'two items with one key are one',
    broken('post', (ledgers, session, item) => {
      const counts = sessionsOf.get(ledgers) ?? new Map<string, number>();
      sessionsOf.set(ledgers, counts);
      const count = (counts.get(session) ?? 0) + 1;
      counts.set(session, count);
      return ledgers.post(session, { ...item, key: `${item.key} ${count}` });
    }),
    /inbox|answer/,
  ],
  [
    'the control lane comes first',
    broken('inbox', async (ledgers, session) =>
      [...(await ledgers.inbox(session))].sort((a, b) => a.position - b.position),
    ),
    /inbox/,
  ],
  [
    'events come in order',
    broken('read', async function* (ledgers, session, range) {
      for await (const page of ledgers.read(session, range)) yield [...page].reverse();
    }),
    /ascending order/,
  ],
  [
    'a follower misses nothing',
    broken('follow', async function* (ledgers, session, after, signal) {
      const first = (await ledgers.head(session))?.seq ?? after;
      yield* ledgers.follow(session, Math.max(after, first), signal);
    }),
    /follow/,
  ],
  [
    'a post that the owner has not seen keeps its lease',
    broken('release', (ledgers, claim) => ledgers.release(claim)),
    /is kept while something was posted/,
  ],
  [
    'a fork shares only the prefix',
    broken('fork', async (ledgers, session, _at, other, first) => {
      const head = await ledgers.head(session);
      return ledgers.fork(session, head?.seq ?? 0, other, first);
    }),
    /fork/,
  ],
  [
    'of all answers to a request one wins',
    broken('post', (ledgers, session, { settles: _settles, ...item }) =>
      ledgers.post(session, item),
    ),
    /answer|exactly one wins/,
  ],
  [
    'versions of deleted keys do not come back',
    broken('readShared', async (ledgers, scope, id) => {
      const all = Object.entries(await ledgers.readShared(scope, id));
      return Object.fromEntries(all.filter(([, { value }]) => value !== undefined));
    }),
    /forget a deleted key/,
  ],
])('it finds a store that breaks the rule: %s', async (_rule, make, caught) => {
  const found = failures(await outcomes(make, { limit: 500 }));
  expect(found.length).toBeGreaterThan(0);
  expect(found.join('\n')).toMatch(caught);
});

test(
  'it finds nothing in a store that keeps all rules, and says which tests a store without a ' +
    'clock skips',
  async () => {
    const found = await outcomes(() => memoryStore());
    expect(failures(found)).toEqual([]);
    expect(found.length).toBeGreaterThan(90);
    const skipped = found.filter(({ skipped }) => skipped !== undefined);
    expect(new Set(skipped.map(({ skipped }) => skipped))).toEqual(
      new Set(['the store has no clock that can be moved']),
    );
  },
);

const parts = [
  'shared scopes',
  'forks',
  'blobs',
  'requests',
  'due',
  'snapshots',
  'deletion',
  'listing',
] as const;

test.each(parts)(
  'a part that is said to be left out and is there all the same is found: %s',
  async (part) => {
    const found = await outcomes(() => memoryStore(), { skip: { [part]: 'not yet' } });
    expect(failures(found)).toEqual([
      expect.stringContaining(`what the store leaves out > ${part} (left out: not yet)`),
    ]);
    expect(found.filter(({ skipped }) => skipped === `${part}: not yet`).length).toBeGreaterThan(0);
  },
);

test('it runs in node:test, without vitest', () => {
  const program = `
    import { memoryStore } from 'adjutant';
    import { storeContract } from 'adjutant/testing';
    await storeContract('memory', async () => {
      const store = memoryStore();
      return { store, cleanup: () => store.close() };
    });`;
  const { VITEST: _vitest, NODE_OPTIONS: _options, ...env } = process.env;
  const args = ['--test-reporter=tap', '--input-type=module', '--eval', program];
  const { stdout, status } = spawnSync(process.execPath, args, {
    env,
    encoding: 'utf8',
    cwd: import.meta.dirname,
  });
  expect({ status, failed: /# fail (\d+)/.exec(stdout)?.[1] }).toEqual({ status: 0, failed: '0' });
  expect(Number(/# pass (\d+)/.exec(stdout)?.[1])).toBeGreaterThan(90);
  expect(stdout).toContain('# SKIP the store has no clock that can be moved');
});

test('options that do not fit are refused', async () => {
  const make = async () => ({ store: memoryStore(), cleanup: async () => undefined });
  await expect(storeContract('x', make, { skip: { fork: 'no' } as never })).rejects.toThrow(
    'did you mean `forks`?',
  );
  await expect(storeContract('x', make, { skip: { forks: '' } })).rejects.toThrow('a reason');
  await expect(
    storeContract('x', make, { runner: { describe: () => undefined } as never }),
  ).rejects.toThrow('`describe` and `test`');
  await expect(storeContract('x', 'store' as never)).rejects.toThrow('`make` must be a function');
});
