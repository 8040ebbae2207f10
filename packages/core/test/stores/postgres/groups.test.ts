import { postgres } from 'adjutant/postgres';
import { afterEach, describe, expect, test } from 'vitest';
import type { LedgerStore, SharedWrite, Store } from '../../../src/ledger/port.ts';
import type { PostgresPool } from '../../../src/stores/postgres/pool.ts';
import { newPool, newSchema, reasonToSkip } from './server.ts';
import { codeOf, notes, readTexts } from './writer.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Opened {
  readonly store: Store;
  readonly ledgers: LedgerStore;
  /** The statements that were sent. */
  readonly statements: string[];
  /** Codes of the errors that the server answered with. */
  readonly errors: unknown[];
}

/** Stores of as many processes on one schema. */
function open(count: number): Opened[] {
  const schema = newSchema();
  cleanups.push(() => schema.drop());
  return Array.from({ length: count }, () => {
    const pool = newPool();
    const statements: string[] = [];
    const errors: unknown[] = [];
    const counting: PostgresPool = {
      query: (text, values) => {
        statements.push(text);
        return pool.query(text, values).catch((error: { code?: unknown }) => {
          errors.push(error.code);
          throw error;
        });
      },
      connect: () => pool.connect(),
    };
    const store = postgres({ pool: counting, schema: schema.name });
    cleanups.push(async () => {
      await store.close();
      await pool.end();
    });
    return { store, ledgers: store.for({ tenant: 'acme', app: 'shop' }), statements, errors };
  });
}

const set = (key: string, value: number, baseVersion: number): SharedWrite => ({
  scope: 'user',
  scopeId: '1',
  key,
  value,
  baseVersion,
});

describe.skipIf(reasonToSkip !== undefined)('changes that wait at the same moment', () => {
  test('share one statement, whichever sessions they are of', async () => {
    const [{ ledgers, statements }] = open(1) as [Opened];
    const names = Array.from({ length: 60 }, (_, i) => `s${i}`);
    await ledgers.claim('first', 'me', { ttlMs: 30_000 });
    statements.length = 0;
    await Promise.all(names.map((name) => ledgers.claim(name, 'me', { ttlMs: 30_000 })));
    await Promise.all(
      names.map((name) =>
        ledgers.append(name, { seq: 0, epoch: 1 }, { events: notes(0, [`of ${name}`]) }),
      ),
    );
    expect(statements).toHaveLength(2);
    for (const name of names) expect(await readTexts(ledgers, name)).toEqual([`of ${name}`]);
  });

  test('are refused one by one', async () => {
    const [{ ledgers, statements }] = open(1) as [Opened];
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await ledgers.claim(name, 'me', { ttlMs: 30_000 });
    statements.length = 0;
    const codes = await Promise.all([
      codeOf(
        ledgers.append(
          'a',
          { seq: 0, epoch: 1 },
          { events: notes(0, ['a']), shared: [set('n', 1, 0)] },
        ),
      ),
      codeOf(
        ledgers.append(
          'b',
          { seq: 0, epoch: 1 },
          { events: notes(0, ['b']), shared: [set('n', 2, 0)] },
        ),
      ),
      codeOf(ledgers.append('c', { seq: 7, epoch: 1 }, { events: notes(7, ['c']) })),
      codeOf(
        ledgers.append(
          'd',
          { seq: 0, epoch: 1 },
          { events: notes(0, ['d']), blobs: ['f'.repeat(64)] },
        ),
      ),
      codeOf(
        ledgers.append(
          'e',
          { seq: 0, epoch: 1 },
          { events: notes(0, ['e']), shared: [set('n', 3, 1)] },
        ),
      ),
    ]);
    expect(codes).toEqual([
      'resolved',
      'state_conflict',
      'ledger_conflict',
      'blob_missing',
      'resolved',
    ]);
    expect(statements).toHaveLength(1);
    expect(await ledgers.readShared('user', '1')).toEqual({ n: { value: 3, version: 2 } });
    for (const [name, texts] of [
      ['a', ['a']],
      ['b', []],
      ['c', []],
      ['d', []],
      ['e', ['e']],
    ] as const) {
      expect(await readTexts(ledgers, name)).toEqual(texts);
    }
  });

  test('fail one by one when the database itself refuses one', async () => {
    const [{ ledgers }] = open(1) as [Opened];
    for (const name of ['a', 'b', 'c']) await ledgers.claim(name, 'me', { ttlMs: 30_000 });
    const codes = await Promise.all([
      codeOf(ledgers.append('a', { seq: 0, epoch: 1 }, { events: notes(0, ['a']) })),
      // No whole number fits.
      codeOf(ledgers.append('b', { seq: 0, epoch: 1 }, { events: notes(0, ['b']), wakeAt: 1e300 })),
      codeOf(ledgers.append('c', { seq: 0, epoch: 1 }, { events: notes(0, ['c']) })),
    ]);
    expect(codes).toEqual(['resolved', 'store_unavailable', 'resolved']);
    expect(await readTexts(ledgers, 'b')).toEqual([]);
    expect(await readTexts(ledgers, 'c')).toEqual(['c']);
  });

  test(
    'of several processes, on the same sessions and shared keys in any order, neither wait ' +
      'for each other nor lose anything',
    async () => {
      const processes = open(3);
      const names = ['a', 'b', 'c', 'd', 'e', 'f'];
      const [first] = processes as [Opened];
      for (const name of names) await first.ledgers.claim(name, 'me', { ttlMs: 30_000 });
      // The table for the version of the schema is not there at first.
      for (const { ledgers, errors } of processes) {
        await ledgers.head('a');
        errors.length = 0;
      }
      const keys = ['k', 'l', 'm'];
      let wins = 0;
      const codes = new Set<string>();
      for (let round = 0; round < 25; round++) {
        const attempts = processes.flatMap(({ ledgers }, p) => {
          const order = p % 2 === 0 ? names : [...names].reverse();
          return order.map(async (name, i) => {
            const head = await ledgers.head(name);
            const scopes = p % 2 === 0 ? keys : [...keys].reverse();
            const shared = scopes.map((key) => ({
              ...set(key, round, round),
              scopeId: `${key}${i % 2}`,
            }));
            const batch = {
              events: notes(head?.seq ?? 0, [`${p}`]),
              ...(i % 3 === 0 ? { shared } : {}),
            };
            const code = await codeOf(
              ledgers.append(name, { seq: head?.seq ?? 0, epoch: 1 }, batch),
            );
            codes.add(code);
            if (code === 'resolved') wins += 1;
          });
        });
        await Promise.all(attempts);
      }
      expect(
        [...codes].filter(
          (code) => !['resolved', 'ledger_conflict', 'state_conflict'].includes(code),
        ),
      ).toEqual([]);
      // A deadlock would have been tried again.
      expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
      const lengths = await Promise.all(
        names.map(async (name) => (await readTexts(first.ledgers, name)).length),
      );
      expect(lengths.reduce((sum, length) => sum + length)).toBe(wins);
      for (const name of names)
        expect((await first.ledgers.head(name))?.seq).toBe(
          (await readTexts(first.ledgers, name)).length,
        );
    },
  );
});
