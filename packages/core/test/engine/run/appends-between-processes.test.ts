import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Event, memoryStore, type Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import type { Claim, LedgerStore } from 'adjutant/store';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { newPool, newSchema, reasonToSkip } from '../../stores/postgres/server.ts';

const scope = { tenant: 'acme', app: 'shop' };
const ttl = 60_000;

/** Two connections to one store, as two processes have them. */
interface TwoStores {
  readonly stores: readonly [Store, Store];
  close(): Promise<void>;
}

function onMemory(): TwoStores {
  const store = memoryStore();
  return { stores: [store, store], close: () => store.close() };
}

function onSqlite(): TwoStores {
  const directory = mkdtempSync(join(tmpdir(), 'adjutant-appends-'));
  const open = (): Store => sqlite(join(directory, 'store.db'), { synchronous: 'normal' });
  const stores = [open(), open()] as const;
  return {
    stores,
    close: async () => {
      for (const store of stores) await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function onPostgres(): TwoStores {
  const schema = newSchema();
  const pools = [newPool(), newPool()] as const;
  return {
    stores: [
      postgres({ pool: pools[0], schema: schema.name }),
      postgres({ pool: pools[1], schema: schema.name }),
    ],
    close: async () => {
      for (const pool of pools) await pool.end();
      await schema.drop();
    },
  };
}

/**
 * Next act of a process. `append` writes at the head that it knows, whether the session is still
 * its own or not.
 */
type Step = {
  readonly who: 0 | 1;
  readonly what: 'claim' | 'force' | 'append' | 'append twice' | 'renew' | 'release';
};

const who = fc.constantFrom<0 | 1>(0, 1);
const what = fc.constantFrom<Step['what']>(
  'claim',
  'force',
  'force',
  'append',
  'append',
  'append',
  'append twice',
  'renew',
  'release',
);
/** Steps of one list happen at the same time. */
const plan = fc.array(fc.array(fc.record({ who, what }), { minLength: 1, maxLength: 4 }), {
  minLength: 2,
  maxLength: 8,
});

let sessions = 0;
let ids = 0;

interface Landed {
  readonly epoch: number;
  readonly events: readonly Event[];
}

/**
 * One process: it knows its last claim and the head of its own writes, and nothing of the other.
 */
class Appender {
  readonly landed: Landed[] = [];
  readonly codes: string[] = [];
  readonly #ledgers: LedgerStore;
  readonly #session: string;
  readonly #name: string;
  #claim: Claim | undefined;
  #seq = 0;

  constructor(store: Store, session: string, name: string) {
    this.#ledgers = store.for(scope);
    this.#session = session;
    this.#name = name;
  }

  async do(step: Step['what']): Promise<void> {
    try {
      await this.#do(step);
    } catch (error) {
      this.codes.push((error as { code: string }).code);
    }
  }

  async #do(step: Step['what']): Promise<void> {
    if (step === 'claim' || step === 'force') {
      const claim = await this.#ledgers.claim(this.#session, this.#name, {
        ttlMs: ttl,
        force: step === 'force',
      });
      this.#claim = claim;
      this.#seq = claim.seq;
      return;
    }
    const claim = this.#claim;
    if (claim === undefined) return;
    if (step === 'append twice') await Promise.all([this.do('append'), this.do('append')]);
    if (step === 'append') await this.#append(claim);
    if (step === 'renew') await this.#ledgers.renew(claim);
    if (step === 'release') await this.#ledgers.release(claim);
  }

  async #append(claim: Claim): Promise<void> {
    const seq = this.#seq;
    const events = Array.from({ length: 1 + (ids % 3) }, (_, i): Event => {
      const id = `event${++ids}`;
      return {
        v: 1,
        seq: seq + i + 1,
        id,
        at: 1_790_000_000_000 + ids,
        type: 'user',
        by: 'user',
        text: this.#name,
      };
    });
    await this.#ledgers.append(this.#session, { seq, epoch: claim.epoch }, { events });
    this.landed.push({ epoch: claim.epoch, events });
    this.#seq = Math.max(this.#seq, seq + events.length);
  }
}

async function readAll(store: Store, session: string): Promise<readonly Event[]> {
  const events: Event[] = [];
  if ((await store.for(scope).head(session)) === undefined) return events;
  for await (const page of store.for(scope).read(session)) events.push(...page);
  return events;
}

describe.each([
  ['memory', onMemory, 300, undefined],
  ['SQLite', onSqlite, 60, undefined],
  ['PostgreSQL', onPostgres, 60, reasonToSkip],
])('two processes on one session, in %s', (_name, open, numRuns, skipped) => {
  const opened: TwoStores[] = [];
  afterAll(async () => {
    for (const two of opened) await two.close();
  });

  test.skipIf(skipped !== undefined)(
    'never both append at one place: what was confirmed is the ledger',
    async () => {
      const two = open();
      opened.push(two);
      let conflicts = 0;
      const property = fc.asyncProperty(plan, async (groups) => {
        const session = `s${++sessions}`;
        const appenders = two.stores.map(
          (store, i) => new Appender(store, session, `process ${i}`),
        ) as [Appender, Appender];
        for (const steps of groups)
          await Promise.all(steps.map((step) => appenders[step.who].do(step.what)));
        const landed = appenders
          .flatMap((appender) => appender.landed)
          .sort((a, b) => (a.events[0]?.seq ?? 0) - (b.events[0]?.seq ?? 0));
        const expected = landed.flatMap(({ events }) => events);
        expect(expected.map(({ seq }) => seq)).toEqual(expected.map((_, i) => i + 1));
        expect(await readAll(two.stores[0], session)).toEqual(expected);
        // A fenced process has written nothing after that.
        expect(landed.map(({ epoch }) => epoch)).toEqual(
          landed.map(({ epoch }) => epoch).sort((a, b) => a - b),
        );
        const codes = appenders.flatMap((appender) => appender.codes);
        expect(
          codes.filter((code) => code !== 'ledger_conflict' && code !== 'session_busy'),
        ).toEqual([]);
        conflicts += codes.filter((code) => code === 'ledger_conflict').length;
      });
      await fc.assert(property, { numRuns });
      // They did get in each other's way.
      expect(conflicts).toBeGreaterThan(numRuns / 4);
    },
  );
});
