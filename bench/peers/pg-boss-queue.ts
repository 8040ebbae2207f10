import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type QueuePlace, slots, type TaskQueue } from '../tasks/task-queue.ts';
import { findPeers, type PgBoss, type PgBossModule } from './packages.ts';

const queue = 'bench';
const jobsPerInsert = 5_000;

/** pg-boss in a schema of the PostgreSQL that ours uses. */
export class PgBossQueue implements TaskQueue {
  readonly name = 'pg-boss';
  readonly place: QueuePlace & { readonly kind: 'pg-boss' };
  readonly #boss: PgBoss;
  readonly #pool: pg.Pool;
  #jobs = 0;

  private constructor(boss: PgBoss, place: QueuePlace & { readonly kind: 'pg-boss' }) {
    this.#boss = boss;
    this.place = place;
    this.#pool = new pg.Pool({ connectionString: place.url, max: 1 });
  }

  static async open({ PgBoss }: PgBossModule, url: string): Promise<PgBossQueue> {
    const schema = `adjutant_bench_${randomBytes(6).toString('hex')}`;
    const boss = new PgBoss({ connectionString: url, schema, supervise: false, schedule: false });
    boss.on('error', (error) => console.error(`pg-boss: ${error.message}`));
    await boss.start();
    await boss.createQueue(queue);
    return new PgBossQueue(boss, { kind: 'pg-boss', url, schema });
  }

  async submit(): Promise<void> {
    await this.#boss.send(queue, {}, { priority: 1 + (this.#jobs++ % 4) });
  }

  async fill(count: number): Promise<void> {
    for (let left = count; left > 0; left -= jobsPerInsert) {
      const length = Math.min(left, jobsPerInsert);
      await this.#boss.insert(
        queue,
        Array.from({ length }, (_, i) => ({ priority: 1 + (i % 4) })),
      );
    }
    // As autovacuum does sooner or later, if it is not turned off.
    await this.#pool.query(`vacuum analyze "${this.place.schema}".job`);
  }

  async take(): Promise<() => Promise<void>> {
    const [job] = await this.#boss.fetch(queue);
    if (job === undefined) throw new Error('pg-boss: there is no job to fetch.');
    return async () => {
      await this.#boss.complete(queue, job.id);
    };
  }

  async isDone(): Promise<boolean> {
    const { rows } = await this.#pool.query(
      `select from "${this.place.schema}".job where name = $1 and state < 'completed' limit 1`,
      [queue],
    );
    return rows.length === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boss.stop({ graceful: false });
    await this.#pool.query(`drop schema if exists "${this.place.schema}" cascade`);
    await this.#pool.end();
  }
}

/** A worker in this process; the function that it gives begins the work. */
export async function pgBossWorker({
  url,
  schema,
}: QueuePlace & { readonly kind: 'pg-boss' }): Promise<() => Promise<void>> {
  const { peers } = await findPeers();
  if (peers === undefined) throw new Error('pg-boss is not installed.');
  const boss = new peers.boss.PgBoss({ connectionString: url, schema, schedule: false });
  boss.on('error', (error) => console.error(`pg-boss: ${error.message}`));
  await boss.start();
  const options = { batchSize: slots, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
  return async () => {
    await boss.work(queue, options, async () => undefined);
  };
}
