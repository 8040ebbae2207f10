import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runtime } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import pg from 'pg';
import { Figure } from '../measure.ts';
import { manyAtOnce } from '../tasks/task-queue.ts';
import { engineAt } from './engine.ts';
import { appName, nothing, type Order, type Used } from './place.ts';

const file = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
const lookMs = 20;
/** Milliseconds between two tasks whose wake is measured: each finds idle workers. */
const apartMs = 40;
/** Ticks of a processor in a second, in the files of Linux about processes. */
const ticksPerSecond = 100;

/** Figures of a number of worker processes on one database. */
export interface ScaleFigures {
  readonly runsPerSecond: number;
  /** Milliseconds of all workers for one run; of PostgreSQL, where its processes are here. */
  readonly workerMs: number;
  readonly databaseMs: number | undefined;
  readonly statements: number;
  readonly rows: number;
  readonly walBytes: number;
  readonly connections: number;
  /** Milliseconds from a submission to the start of its run. */
  readonly wakes: Figure;
  /** Milliseconds of all workers for one task that finds them idle. */
  readonly wakeMs: number;
}

export interface ScaleProcesses {
  readonly workers: number;
  /** Address of a Temporal server, which keeps the runs moving then. */
  readonly temporal?: string;
}

export interface ScaleSizes {
  /** Tasks for each process, so that all counts of processes have compiled their code alike. */
  readonly tasks: number;
  /** The same before anything is measured. */
  readonly warmUp: number;
  /** Tasks that find all processes idle. */
  readonly wakes: number;
}

/**
 * Measures worker processes: a queue that is full, and then single tasks that find them idle. Each
 * process first works `warmUp` tasks, since compiling its code is a cost of a process and not of
 * a run.
 */
export async function measureScale(
  url: string,
  { workers, temporal = '' }: ScaleProcesses,
  sizes: ScaleSizes,
): Promise<ScaleFigures> {
  const schema = `adjutant_bench_${randomBytes(6).toString('hex')}`;
  const named = new URL(url);
  named.searchParams.set('application_name', schema);
  const pool = new pg.Pool({ connectionString: url });
  const store = postgres({ pool, schema });
  const engine = await engineAt(temporal, { worker: false });
  const app = runtime({
    ...{ app: appName, store, runnables: [nothing] },
    ...(temporal === '' ? { recover: 'manual' } : engine),
  });
  try {
    await store.for({ tenant: 'default', app: appName }).list({ limit: 1 });
    const children = await Promise.all(
      Array.from({ length: workers }, () => started(named.href, schema, temporal)),
    );
    const drain = () => drained(store);
    await manyAtOnce(sizes.warmUp * workers, 500, () => app.submit(nothing, 'go'));
    await ordered(children, 'work');
    await drain();
    await ordered(children, 'rest');
    const full = await fullQueue(sizes.tasks * workers, { app, children, pool, schema, drain });
    const wakes = await wakesOf(app, sizes.wakes);
    const woken = await ordered(children, 'rest');
    await Promise.all(children.map(ended));
    return { ...full, wakes, wakeMs: sum(woken, ({ cpuMs }) => cpuMs) / sizes.wakes };
  } finally {
    await app.close();
    await store.close();
    await pool.query(`drop schema if exists "${schema}" cascade`);
    await pool.end();
  }
}

interface Measured {
  readonly app: ReturnType<typeof runtime>;
  readonly children: readonly ChildProcess[];
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly drain: () => Promise<void>;
}

async function fullQueue(
  tasks: number,
  { app, children, pool, schema, drain }: Measured,
): Promise<Omit<ScaleFigures, 'wakes' | 'wakeMs'>> {
  await manyAtOnce(tasks, 500, () => app.submit(nothing, 'go'));
  const before = await countsOf(pool, schema);
  const began = performance.now();
  await ordered(children, 'work');
  await drain();
  const seconds = (performance.now() - began) / 1_000;
  const used = await ordered(children, 'tell');
  const after = await countsOf(pool, schema);
  return {
    runsPerSecond: tasks / seconds,
    workerMs: sum(used, ({ cpuMs }) => cpuMs) / tasks,
    databaseMs: perTask(after.databaseMs, before.databaseMs, tasks),
    statements: sum(used, ({ statements }) => statements) / tasks,
    rows: (after.rows - before.rows) / tasks,
    walBytes: (after.walBytes - before.walBytes) / tasks,
    connections: sum(used, ({ connections }) => connections),
  };
}

async function drained(store: ReturnType<typeof postgres>): Promise<void> {
  const tasks = store.for({ tenant: 'default', app: appName });
  while ((await tasks.turns({ limit: 1 })).length > 0) await sleep(lookMs);
}

function ordered(children: readonly ChildProcess[], order: Order): Promise<readonly Used[]> {
  return Promise.all(
    children.map(async (child) => {
      const told = once(child, 'message');
      child.send(order);
      const [used] = (await told) as [Used];
      return used;
    }),
  );
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

async function started(url: string, schema: string, temporal: string): Promise<ChildProcess> {
  const child = fork(file, [url, schema, temporal], { execArgv: ['--conditions=adjutant-source'] });
  await once(child, 'message');
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.disconnect();
  await exit;
}

async function wakesOf(app: ReturnType<typeof runtime>, count: number): Promise<Figure> {
  const waits: number[] = [];
  for (let i = 0; i < count; i++) {
    const task = await app.submit(nothing, 'go');
    await task.wait();
    const { startedAt = 0, submittedAt } = await task.info();
    waits.push(startedAt - submittedAt);
    await sleep(apartMs);
  }
  return new Figure(waits);
}

interface Counts {
  readonly databaseMs: number | undefined;
  readonly rows: number;
  readonly walBytes: number;
}

/** Counts of the whole server for the log, of the schema for rows, of its processes for time. */
async function countsOf(pool: pg.Pool, schema: string): Promise<Counts> {
  await pool.query('select pg_stat_clear_snapshot()');
  const { rows } = await pool.query<{ rows: string; wal: string; pids: number[] }>(
    `select (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables
        where schemaname = $1) as rows,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal,
      (select coalesce(array_agg(pid), '{}') from pg_stat_activity
        where application_name = $1) as pids`,
    [schema],
  );
  const [row] = rows;
  return {
    databaseMs: cpuMsOf(row?.pids ?? []),
    rows: Number(row?.rows),
    walBytes: Number(row?.wal),
  };
}

/** Processor time of processes of this machine; `undefined` where they are elsewhere. */
function cpuMsOf(pids: readonly number[]): number | undefined {
  try {
    const ticks = pids.map((pid) => {
      const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
      const numbers = fields.split(' ');
      return Number(numbers[11]) + Number(numbers[12]);
    });
    return (ticks.reduce((sum, one) => sum + one, 0) * 1_000) / ticksPerSecond;
  } catch {
    return undefined;
  }
}

function perTask(
  after: number | undefined,
  before: number | undefined,
  tasks: number,
): number | undefined {
  return after === undefined || before === undefined ? undefined : (after - before) / tasks;
}
