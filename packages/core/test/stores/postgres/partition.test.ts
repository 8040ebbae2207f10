import { memoryStore } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newPool, newSchema, reasonToSkip } from './server.ts';
import { codeOf, notes } from './writer.ts';

const sessions = 40;

/** A store that has sessions with events. */
async function filled() {
  const schema = newSchema();
  const pool = newPool();
  const store = postgres({ pool, schema: schema.name });
  const ledgers = store.for({ tenant: 'acme', app: 'shop' });
  onTestFinished(async () => {
    await store.close();
    await pool.end();
    await schema.drop();
  });
  for (let i = 0; i < sessions; i++) {
    const claim = await ledgers.claim(`s${i}`, 'me', { ttlMs: 30_000 });
    const expected = { seq: 0, epoch: claim.epoch };
    await ledgers.append(`s${i}`, expected, { events: notes(0, [`a${i}`, `b${i}`]) });
    await ledgers.release(claim);
  }
  const texts = async (session: string): Promise<readonly unknown[]> => {
    const found: unknown[] = [];
    for await (const page of ledgers.read(session))
      found.push(...page.map((event) => (event as { text?: unknown }).text));
    return found;
  };
  const partition = (partitions?: number) =>
    store.admin.partition?.(partitions) ?? Promise.reject(new Error('it has no partitions'));
  return { ledgers, partition, pool, schema, store, texts };
}

describe.skipIf(reasonToSkip !== undefined)('partitions', () => {
  test('take the events that are there, and those that come', async () => {
    const { ledgers, partition, schema, texts } = await filled();
    expect(await partition(4)).toEqual({ partitions: 4, moved: 2 * sessions });
    expect(await texts('s7')).toEqual(['a7', 'b7']);
    const claim = await ledgers.claim('s7', 'me', { ttlMs: 30_000 });
    await ledgers.append('s7', { seq: 2, epoch: claim.epoch }, { events: notes(2, ['c']) });
    expect(await texts('s7')).toEqual(['a7', 'b7', 'c']);
    const counts = await schema.query(
      `select tableoid::regclass as name, count(*)::int as events from "${schema.name}".events
        group by 1`,
    );
    expect(counts).toHaveLength(4);
    // A session lies in one partition: a read of it looks at no other.
    const plan = await schema.query(
      `explain select * from "${schema.name}".events where ledger = 7 and seq > 0`,
    );
    const scanned = JSON.stringify(plan).match(/events_p\d+(?!_)/g) ?? [];
    expect(new Set(scanned).size).toBe(1);
  });

  test('are made once: the same number changes nothing, another one is refused', async () => {
    const { partition } = await filled();
    expect(await partition()).toEqual({ partitions: 16, moved: 2 * sessions });
    expect(await partition()).toEqual({ partitions: 16, moved: 0 });
    expect(await codeOf(partition(8))).toBe('invalid_option');
  });

  test.each([1, 0, 2.5, 257, Number.NaN])('of a number that does not fit: %j', async (number) => {
    const { partition } = await filled();
    expect(await codeOf(partition(number))).toBe('invalid_option');
  });

  test('are refused while a process holds a session, and nothing has changed then', async () => {
    const { ledgers, partition, texts } = await filled();
    const claim = await ledgers.claim('s0', 'me', { ttlMs: 30_000 });
    expect(await codeOf(partition(4))).toBe('session_busy');
    expect(await texts('s0')).toEqual(['a0', 'b0']);
    await ledgers.release(claim);
    expect((await partition(4)).moved).toBe(2 * sessions);
  });

  test('are refused where others have added to the table what would be lost', async () => {
    const { partition, schema, texts } = await filled();
    await schema.query(`create index by_hand on "${schema.name}".events (at)`);
    const refused = partition(4);
    await expect(refused).rejects.toThrow('remove the index by_hand first');
    await schema.query(`drop index "${schema.name}".by_hand`);
    await schema.query(
      `create view "${schema.name}".seen as select * from "${schema.name}".events`,
    );
    // PostgreSQL refuses in the middle, and all of it is undone.
    await expect(partition(4)).rejects.toThrow('other objects depend on it');
    expect(await texts('s1')).toEqual(['a1', 'b1']);
    await schema.query(`drop view "${schema.name}".seen`);
    expect((await partition(4)).moved).toBe(2 * sessions);
  });

  test('keep the rights that were given', async () => {
    const { partition, schema } = await filled();
    await schema.query(`grant select on "${schema.name}".events to public`);
    await partition(2);
    const [row] = await schema.query(
      `select has_table_privilege('pg_monitor', '"${schema.name}".events', 'select') as may`,
    );
    expect(row?.['may']).toBe(true);
  });
});

test('other stores have none', () => {
  expect(memoryStore().admin.partition).toBeUndefined();
  expect(sqlite(':memory:').admin.partition).toBeUndefined();
});
