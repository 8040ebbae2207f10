import { join } from 'node:path';
import { BareCommit } from '../bare-commit.ts';
import { elapsed, interleave, type Subject } from '../measure.ts';
import type { Row, Settings } from '../row.ts';
import { AdjutantQueue } from './adjutant-queue.ts';
import { ServerQueues } from './queues.ts';
import type { TaskQueue } from './task-queue.ts';

const submitsPerRepetition = 25;

/** Time from `submit` until the task is durable, one after the other. */
export async function submitting(settings: Settings): Promise<readonly Row[]> {
  await using file = AdjutantQueue.onSqlite(settings);
  await using bare = new BareCommit(join(settings.folder, 'submits.db'), 'full');
  const floor: Subject = { name: 'bare loop', measure: () => each(() => bare.round()) };
  const rows = [await submitsOf([floor, subjectOf(file)], 'SQLite FULL', settings)];
  await using servers = await ServerQueues.open();
  if (servers === undefined) return rows;
  return [...rows, await submitsOf(servers.all.map(subjectOf), 'PostgreSQL', settings)];
}

async function submitsOf(
  subjects: readonly Subject[],
  store: string,
  { quick }: Settings,
): Promise<Row> {
  const figures = await interleave(subjects, quick ? 4 : 20);
  return { work: `submitting a task until it is durable, ${store}`, unit: 'ms', figures };
}

function subjectOf(queue: TaskQueue): Subject {
  return { name: queue.name, measure: () => each(() => queue.submit()) };
}

async function each(work: () => Promise<void>): Promise<number> {
  const ms = await elapsed(async () => {
    for (let i = 0; i < submitsPerRepetition; i++) await work();
  });
  return ms / submitsPerRepetition;
}
