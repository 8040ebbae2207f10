import type { Event } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSchema, reasonToSkip, serverUrl } from '../../stores/postgres/server.ts';
import { notes } from '../../stores/postgres/writer.ts';

const cleanups: (() => Promise<void>)[] = [];
let warnings: string[] = [];
const heed = (warning: Error): void => void warnings.push(warning.message);

beforeEach(() => {
  warnings = [];
  process.on('warning', heed);
});

afterEach(async () => {
  process.off('warning', heed);
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function open(pool: pg.Pool) {
  const schema = newSchema();
  const store = postgres({ pool, schema: schema.name });
  cleanups.push(() => schema.drop());
  cleanups.push(() => store.close());
  return store.for({ tenant: 'acme', app: 'shop' });
}

describe.skipIf(reasonToSkip !== undefined)('a pool without a connection to spare', () => {
  test.each([
    [1, 1, 2],
    [2, 2, 3],
  ])(
    'B22: of %i connections, with %i stores that are followed, does not hang, and says ' +
      'what it needs',
    async (max, stores, needed) => {
      const pool = new pg.Pool({ connectionString: serverUrl, max });
      cleanups.push(() => pool.end());
      const all = Array.from({ length: stores }, () => open(pool));
      const followers: AsyncIterator<Event>[] = [];
      for (const ledgers of all) {
        const { epoch } = await ledgers.claim('s', 'writer', { ttlMs: 30_000 });
        await ledgers.append('s', { seq: 0, epoch }, { events: notes(0, ['one']) });
        // Several follow one store: they share what it listens on.
        for (let i = 0; i < 3; i++) {
          const stop = new AbortController();
          const follower = ledgers.follow('s', 0, stop.signal)[Symbol.asyncIterator]();
          followers.push(follower);
          cleanups.push(async () => stop.abort());
          expect((await follower.next()).value).toMatchObject({ seq: 1 });
        }
      }
      for (const ledgers of all) {
        const { epoch } = await ledgers.claim('s', 'writer', { ttlMs: 30_000 });
        await ledgers.append('s', { seq: 1, epoch }, { events: notes(1, ['two']) });
      }
      const next = await Promise.all(followers.map((follower) => follower.next()));
      expect(next.map(({ value }) => (value as Event).seq)).toEqual(followers.map(() => 2));
      expect(warnings).toEqual([
        expect.stringContaining(
          `give the pool at least ${needed} (\`max\`), or the store the option \`listen\``,
        ),
      ]);
    },
  );
});
