import { memoryStore, type Store } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPostgres } from '../../src/stores/postgres/store.ts';
import { newPool, newSchema, reasonToSkip } from '../stores/postgres/server.ts';
import { operations, Performer } from '../stores/turns/operations.ts';

type Open = (options: { readonly clock: ReturnType<typeof testClock> }) => Store;

/** Stores that must do what the store in memory does. */
const stores: readonly (readonly [name: string, numRuns: number, open: Open])[] = [
  ['sqlite', 100, (options) => sqlite(':memory:', options)],
  ...(reasonToSkip === undefined ? [['postgres', 6, openInNewSchema] as const] : []),
];

function openInNewSchema({ clock }: Parameters<Open>[0]): Store {
  const schema = newSchema();
  const pool = newPool();
  const endPool = async (): Promise<void> => {
    await pool.end();
    await schema.drop();
  };
  return openPostgres({
    ...{ description: schema.name, schema: schema.name },
    ...{ pool, endPool, fixedNow: clock.now },
  });
}

test.each(stores)(
  'turns of %s are those of the store in memory, whatever happens to them',
  async (_name, numRuns, open) => {
    const clock = testClock();
    const memory = memoryStore({ clock });
    const store = open({ clock });
    let runs = 0;
    const compare = async (
      list: Parameters<Parameters<typeof operations.map>[0]>[0],
    ): Promise<void> => {
      runs += 1;
      const expected = new Performer(memory, `app ${runs}`);
      const found = new Performer(store, `app ${runs}`);
      for (const operation of list) {
        if (operation.name === 'advance') clock.advance(operation.ms);
        const now = clock.now();
        const [right, got] = [
          await expected.perform(operation, now),
          await found.perform(operation, now),
        ];
        expect(got, operation.name).toEqual(right);
      }
      expect(await found.rest()).toEqual(await expected.rest());
    };
    try {
      await fc.assert(fc.asyncProperty(operations, compare), { numRuns });
    } finally {
      await store.close();
    }
  },
  120_000,
);
