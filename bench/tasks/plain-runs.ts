import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { agent, memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import pg from 'pg';
import { instantModel } from '../instant-model.ts';
import { elapsed, Figure, median } from '../measure.ts';
import { ours, type Row, type Settings } from '../row.ts';
import { postgresUrl } from '../stores.ts';
import { appName } from './adjutant-queue.ts';
import { manyAtOnce } from './task-queue.ts';

/** Most time of a plain run beside a queue, in times of one without. */
const overhead = 1.03;
const waiting = 500;
const hourMs = 3_600_000;
const writer = agent({ name: 'writer', model: instantModel(() => ({ deltas: ['done'] })) });

/** A store of its own, which is removed when it is closed. */
interface Place extends AsyncDisposable {
  readonly store: Store;
}

interface Comparison {
  readonly name: string;
  readonly runs: number;
  readonly open: () => Place;
}

/**
 * The cost of turns to a run that has none: the same runs in an app that works on tasks, of which
 * many wait, and in an app and a store that have as many sessions and no task. (A store with more
 * sessions is slower by a few percent, whatever they are: that is not the cost of turns.) Beside it
 * the same run as a task.
 */
export async function plainRuns(settings: Settings): Promise<readonly Row[]> {
  const url = postgresUrl;
  const comparisons: Comparison[] = [
    { name: 'memory', runs: 200, open: () => placeOf(memoryStore()) },
    { name: 'SQLite FULL', runs: 40, open: () => onFile(settings) },
    ...(url === undefined ? [] : [{ name: 'PostgreSQL', runs: 20, open: () => onServer(url) }]),
  ];
  const rows: Row[] = [];
  for (const comparison of comparisons) rows.push(...(await compare(comparison, settings)));
  return rows;
}

async function compare(
  { name, open, runs }: Comparison,
  { quick }: Settings,
): Promise<readonly Row[]> {
  await using busy = open();
  await using empty = open();
  await using apps = await Apps.open(busy.store, empty.store);
  const ratios: number[] = [];
  const plain: number[] = [];
  // The first ones do not count: V8 has not compiled everything.
  for (let repetition = -2; repetition < (quick ? 6 : 20); repetition++) {
    const { ms, ratio } = await apps.compare(runs);
    if (repetition < 0) continue;
    ratios.push(ratio);
    plain.push(ms);
  }
  const tasks = await apps.timesOfTasks(runs);
  const figures = (values: readonly number[]) => new Map([[ours, new Figure(values)]]);
  const work = `a plain run in an app with ${waiting} waiting tasks`;
  return [
    { work: `${work}, ${name}`, unit: 'ms', figures: figures(plain) },
    {
      work: `${work} against one without a queue, ${name}`,
      unit: '×',
      figures: figures(ratios),
      ceiling: { limit: overhead, of: 'median' },
    },
    { work: `the same run as a task, ${name}`, unit: 'ms', figures: figures(tasks) },
  ];
}

/** An app with a queue that it works on, and one without. */
class Apps implements AsyncDisposable {
  readonly #working: Runtime;
  readonly #plain: Runtime;

  private constructor(busy: Store, empty: Store) {
    const options = { app: appName, runnables: [writer] };
    this.#working = runtime({ ...options, store: busy, work: { slots: 10 } });
    this.#plain = runtime({ ...options, store: empty, recover: 'manual' });
  }

  static async open(busy: Store, empty: Store): Promise<Apps> {
    const apps = new Apps(busy, empty);
    await manyAtOnce(waiting, 200, () => apps.#working.submit(writer, 'go', { delayMs: hourMs }));
    await manyAtOnce(waiting, 50, async () => {
      await apps.#plain.run(writer, 'go');
    });
    return apps;
  }

  /**
   * Runs of both in turn, one by one. Their medians leave out those during which other programs had
   * the processor, or V8 collected garbage.
   */
  async compare(runs: number): Promise<{ readonly ms: number; readonly ratio: number }> {
    const sides = [this.#working, this.#plain].map((app) => ({ app, times: [] as number[] }));
    for (let i = 0; i < runs; i++)
      for (const { app, times } of i % 2 === 0 ? sides : sides.toReversed())
        times.push(await elapsed(async () => app.run(writer, 'go')));
    const [working = Number.NaN, plain = Number.NaN] = sides.map(({ times }) => median(times));
    return { ms: working, ratio: working / plain };
  }

  /** Milliseconds of tasks one after the other, from the submission until the result is there. */
  async timesOfTasks(count: number): Promise<readonly number[]> {
    const times: number[] = [];
    for (let i = 0; i < count; i++)
      times.push(await elapsed(async () => (await this.#working.submit(writer, 'go')).wait()));
    return times;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#working.close();
    await this.#plain.close();
  }
}

function placeOf(store: Store, remove: () => Promise<void> = async () => undefined): Place {
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      await remove();
    },
  };
}

function onFile({ folder }: Settings): Place {
  return placeOf(sqlite(join(folder, `plain-${randomBytes(4).toString('hex')}.db`)));
}

function onServer(url: string): Place {
  const pool = new pg.Pool({ connectionString: url });
  const schema = `adjutant_bench_${randomBytes(6).toString('hex')}`;
  return placeOf(postgres({ pool, schema }), async () => {
    await pool.query(`drop schema if exists "${schema}" cascade`);
    await pool.end();
  });
}
