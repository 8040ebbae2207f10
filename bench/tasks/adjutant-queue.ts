import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Runtime, runtime, type Store, step } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import pg from 'pg';
import type { Settings } from '../row.ts';
import { claimMs, manyAtOnce, priorities, type QueuePlace, type TaskQueue } from './task-queue.ts';

export const appName = 'bench';
const tenants = 20;
const requesters = 50;
/** Number of posts under way while a queue is filled, which share their commits. */
const fillAtOnce = 1_000;

/** The task of all benchmarks: it ends at once, so that everything measured is the queue's. */
export const nothing = step({ name: 'nothing', execute: (ctx) => ctx.complete(true) });

/** Tables that a filled queue has filled. */
const tablesOfQueue = ['ledgers', 'turns', 'flows', 'inbox', 'posted', 'listed_rows'];

/** Our tasks in a store: of many tenants and requesters, so that shares count. */
export class AdjutantQueue implements TaskQueue {
  readonly name = 'Adjutant';
  readonly place: QueuePlace;
  readonly store: Store;
  readonly #app: Runtime;
  readonly #tenants: readonly Runtime[];
  readonly #close: () => Promise<void>;
  readonly #filled: () => Promise<void>;
  #tasks = 0;

  private constructor(
    store: Store,
    place: QueuePlace,
    {
      close,
      filled,
    }: { readonly close: () => Promise<void>; readonly filled: () => Promise<void> },
  ) {
    this.store = store;
    this.place = place;
    this.#close = close;
    this.#filled = filled;
    this.#app = runtime({ app: appName, store, runnables: [nothing], recover: 'manual' });
    this.#tenants = Array.from({ length: tenants }, (_, i) => this.#app.tenants.get(`tenant-${i}`));
  }

  static onSqlite({ folder }: Settings): AdjutantQueue {
    const store = sqlite(join(folder, `tasks-${randomBytes(4).toString('hex')}.db`));
    const nothingElse = async (): Promise<void> => undefined;
    return new AdjutantQueue(
      store,
      { kind: 'sqlite' },
      { close: nothingElse, filled: nothingElse },
    );
  }

  static onPostgres(url: string): AdjutantQueue {
    const pool = new pg.Pool({ connectionString: url });
    const schema = `adjutant_bench_${randomBytes(6).toString('hex')}`;
    const tables = tablesOfQueue.map((table) => `"${schema}".${table}`).join(', ');
    return new AdjutantQueue(
      postgres({ pool, schema }),
      { kind: 'adjutant', url, schema },
      {
        close: async () => {
          await pool.query(`drop schema if exists "${schema}" cascade`);
          await pool.end();
        },
        // As autovacuum does sooner or later, if it is not turned off.
        filled: async () => {
          await pool.query(`vacuum analyze ${tables}`);
        },
      },
    );
  }

  async submit(): Promise<void> {
    await this.#submitTo(this.#tasks++);
  }

  async #submitTo(number: number): Promise<void> {
    await this.#tenants[number % tenants]?.submit(nothing, 'go', {
      priority: priorities[number % priorities.length] ?? 'normal',
      requester: `user-${Math.floor(number / tenants) % requesters}`,
    });
  }

  async fill(count: number): Promise<void> {
    // The first statistics decide on plans that stay for long.
    const first = Math.min(count, 2_000);
    for (const part of [first, count - first].filter((number) => number > 0)) {
      await manyAtOnce(part, fillAtOnce, () => this.submit());
      await this.#filled();
    }
  }

  async take(): Promise<() => Promise<void>> {
    const { taken } = await this.store.admin.take({
      app: appName,
      owner: 'bench',
      ticket: randomBytes(8).toString('hex'),
      ttlMs: claimMs,
      slots: 1,
      names: [nothing.name],
    });
    const [one] = taken;
    if (one === undefined) throw new Error('Adjutant: there is no task to take.');
    const { epoch, session, tenant } = one;
    const claim = { session, epoch, owner: 'bench', seq: 0, inboxSeq: 0, until: 0, now: 0 };
    const ledgers = this.store.for({ tenant, app: appName });
    return async () => {
      const head = { seq: 0, epoch };
      await ledgers.append(session, head, { events: [], consumes: [1], turn: { to: 'none' } });
      await ledgers.release(claim);
    };
  }

  async isDone(): Promise<boolean> {
    const left = await Promise.all(
      this.#tenants.map((_, i) =>
        this.store.for({ tenant: `tenant-${i}`, app: appName }).turns({ limit: 1 }),
      ),
    );
    return left.every(({ length }) => length === 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close();
    await this.store.close();
    await this.#close();
  }
}
