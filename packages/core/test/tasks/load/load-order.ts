import type { StoreAddress } from '../../crash/worker-store.ts';

/** Order of one worker process. */
export interface WorkerOrder {
  readonly store: StoreAddress;
  readonly effects: string;
  /** File in which workers note the tasks that they take. */
  readonly taken: string;
  readonly slots: number;
}

export const tenants = ['flood', 'one', 'two'] as const;
export const roundsOfTask = 3;
export const roundMs = 20;
