/** A queue that is measured: ours in a store, or that of a peer. */
export interface TaskQueue extends AsyncDisposable {
  readonly name: 'Adjutant' | 'pg-boss' | 'BullMQ';
  /** Stores one task. Resolves when it is durable. */
  submit(): Promise<void>;
  /** Stores many tasks of four priorities; how long that takes is not measured. */
  fill(count: number): Promise<void>;
  /** Chooses one task and claims it. The function that it gives ends the task. */
  take(): Promise<() => Promise<void>>;
  /** True when no task waits and none is worked on. */
  isDone(): Promise<boolean>;
  /** Place of the queue, for the processes of its workers. */
  readonly place: QueuePlace;
}

export type QueuePlace =
  | { readonly kind: 'sqlite' }
  | { readonly kind: 'adjutant'; readonly url: string; readonly schema: string }
  | { readonly kind: 'pg-boss'; readonly url: string; readonly schema: string }
  | { readonly kind: 'bullmq'; readonly port: number; readonly name: string };

export const priorities = ['high', 'normal', 'low', 'background'] as const;

/** Number of tasks that one worker process works on at the same time. */
export const slots = 10;

/** Longest time in milliseconds for which the tasks are claimed that a benchmark holds. */
export const claimMs = 600_000;

/** Calls of a function that are under way at the same time, until all are made. */
export async function manyAtOnce(
  count: number,
  atOnce: number,
  call: (number: number) => Promise<unknown>,
): Promise<void> {
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < count) await call(begun++);
  };
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, work));
}
