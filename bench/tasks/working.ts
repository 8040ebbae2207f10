import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { elapsed, interleave } from '../measure.ts';
import type { Row, Settings } from '../row.ts';
import { ServerQueues } from './queues.ts';
import { type QueuePlace, slots, type TaskQueue } from './task-queue.ts';

const lookMs = 20;

/** Tasks that worker processes end in a second, of a queue that was filled before. */
export async function working(settings: Settings): Promise<readonly Row[]> {
  await using servers = await ServerQueues.open();
  if (servers === undefined) return [];
  const rows: Row[] = [];
  for (const workers of [1, 2]) {
    const figures = await interleave(
      servers.all.map((queue) => ({
        name: queue.name,
        measure: () => tasksPerSecond(queue, workers, settings),
      })),
      settings.quick ? 2 : 5,
    );
    const processes = workers === 1 ? '1 worker process' : `${workers} worker processes`;
    const work = `tasks that do nothing, ${processes} of ${slots} places, PostgreSQL`;
    rows.push({ work, unit: 'tasks/s', figures });
  }
  return rows;
}

async function tasksPerSecond(
  queue: TaskQueue,
  workers: number,
  { quick }: Settings,
): Promise<number> {
  const tasks = quick ? 200 : 1_000;
  await queue.fill(tasks);
  const processes = await Promise.all(
    Array.from({ length: workers }, () => WorkerProcess.start(queue.place)),
  );
  const ms = await elapsed(async () => {
    for (const process of processes) process.work();
    while (!(await queue.isDone())) await sleep(lookMs);
  });
  await Promise.all(processes.map((process) => process.end()));
  return (tasks * 1_000) / ms;
}

class WorkerProcess {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Resolves when it has loaded everything and begun nothing. */
  static async start(place: QueuePlace): Promise<WorkerProcess> {
    const file = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
    const process = fork(file, [JSON.stringify(place)], {
      execArgv: ['--conditions=adjutant-source'],
    });
    await once(process, 'message');
    return new WorkerProcess(process);
  }

  work(): void {
    this.#process.send('work');
  }

  async end(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}
