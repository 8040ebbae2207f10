import { randomBytes } from 'node:crypto';
import { claimMs, type QueuePlace, slots, type TaskQueue } from '../tasks/task-queue.ts';
import { type BullModule, type BullQueue, type BullWorker, findPeers } from './packages.ts';

const jobsPerInsert = 5_000;

type BullPlace = QueuePlace & { readonly kind: 'bullmq' };

function connectionOf({ port }: BullPlace) {
  return { connection: { host: '127.0.0.1', port } };
}

/** BullMQ on a Redis that syncs each command. */
export class BullMqQueue implements TaskQueue {
  readonly name = 'BullMQ';
  readonly place: BullPlace;
  readonly #queue: BullQueue;
  readonly #worker: BullWorker;
  #jobs = 0;

  constructor({ Queue, Worker }: BullModule, port: number) {
    this.place = { kind: 'bullmq', port, name: `bench-${randomBytes(4).toString('hex')}` };
    const connection = connectionOf(this.place);
    this.#queue = new Queue(this.place.name, connection);
    this.#worker = new Worker(this.place.name, null, {
      ...connection,
      autorun: false,
      lockDuration: claimMs,
    });
  }

  async submit(): Promise<void> {
    await this.#queue.add('nothing', {}, optionsOf(this.#jobs++));
  }

  async fill(count: number): Promise<void> {
    for (let left = count; left > 0; left -= jobsPerInsert) {
      const length = Math.min(left, jobsPerInsert);
      await this.#queue.addBulk(
        Array.from({ length }, (_, i) => ({ name: 'nothing', data: {}, opts: optionsOf(i) })),
      );
    }
  }

  async take(): Promise<() => Promise<void>> {
    const job = await this.#worker.getNextJob('bench', { block: false });
    if (job === undefined) throw new Error('BullMQ: there is no job to get.');
    return async () => {
      await job.moveToCompleted(true, 'bench', false);
    };
  }

  async isDone(): Promise<boolean> {
    const counts = await this.#queue.getJobCounts('wait', 'prioritized', 'active', 'delayed');
    return Object.values(counts).every((count) => count === 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.close();
    await this.#queue.close();
  }
}

function optionsOf(number: number) {
  return { priority: 1 + (number % 4), removeOnComplete: true };
}

/** A worker in this process; the function that it gives begins the work. */
export async function bullMqWorker(place: BullPlace): Promise<() => Promise<void>> {
  const { peers } = await findPeers();
  if (peers === undefined) throw new Error('BullMQ is not installed.');
  const worker = new peers.bull.Worker(place.name, async () => undefined, {
    ...connectionOf(place),
    concurrency: slots,
    autorun: false,
  });
  return async () => {
    void worker.run();
  };
}
