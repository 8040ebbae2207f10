import { elapsed, Figure } from '../measure.ts';
import type { Row, Settings } from '../row.ts';
import { type Paired, paired } from '../server/paired.ts';
import { AdjutantQueue } from './adjutant-queue.ts';
import { planOnPostgres, planOnSqlite } from './plans.ts';
import { ServerQueues } from './queues.ts';
import type { TaskQueue } from './task-queue.ts';

/** Longest time in milliseconds of a call that chooses and claims one turn. */
const limitMs = 5;
/** Tasks that are worked on meanwhile: as many as a process has places by default. */
const held = 100;
const takesPerRepetition = 40;

interface Takes {
  readonly median: number;
  readonly p95: number;
}

/** The times of calls that choose and claim one of many waiting tasks. */
export async function choosing(settings: Settings, plans: string[]): Promise<readonly Row[]> {
  const waiting = settings.quick ? 10_000 : 100_000;
  await using file = AdjutantQueue.onSqlite(settings);
  await fill(file, waiting);
  const onFile = await measure([file], settings);
  plans.push(`Plan of choosing among ${waiting} tasks, SQLite:`, ...(await planOnSqlite()));
  const rows = rowsOf(onFile, waiting, 'SQLite FULL');
  await using servers = await ServerQueues.open();
  if (servers === undefined) return rows;
  for (const queue of servers.all) await fill(queue, waiting);
  const onServers = await measure(servers.all, settings);
  plans.push(
    `Plan of choosing among ${waiting} tasks, PostgreSQL:`,
    ...(await planOnPostgres(servers.own)),
  );
  return [...rows, ...rowsOf(onServers, waiting, 'PostgreSQL')];
}

async function fill(queue: TaskQueue, waiting: number): Promise<void> {
  process.stderr.write(`  ${queue.name}: ${waiting} tasks\n`);
  await queue.fill(waiting + held);
  for (let i = 0; i < held; i++) await queue.take();
}

function measure(queues: readonly TaskQueue[], { quick }: Settings): Promise<Paired<Takes>> {
  return paired(
    queues.map((queue) => ({ name: queue.name, measure: () => takesOf(queue) })),
    quick ? 4 : 10,
  );
}

/** Each task that is taken is ended, and another one is submitted; only taking is timed. */
async function takesOf(queue: TaskQueue): Promise<Takes> {
  const times: number[] = [];
  for (let i = 0; i < takesPerRepetition; i++) {
    let end = async (): Promise<void> => undefined;
    times.push(
      await elapsed(async () => {
        end = await queue.take();
      }),
    );
    await end();
    await queue.submit();
  }
  const { median, values } = new Figure(times);
  return { median, p95: values[Math.floor(values.length * 0.95)] ?? Number.NaN };
}

function rowsOf(takes: Paired<Takes>, waiting: number, store: string): readonly Row[] {
  const work = `choosing and claiming one of ${waiting.toLocaleString('en-US')} tasks, ${store}`;
  return [
    {
      ...takes.row(`${work}, median`, 'ms', ({ median }) => median),
      ceiling: { limit: limitMs, of: 'median' },
    },
    { ...takes.row(`${work}, p95`, 'ms', ({ p95 }) => p95), ceiling: { limit: limitMs } },
  ];
}
