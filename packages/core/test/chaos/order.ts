import type { StoreAddress } from '../crash/worker-store.ts';

/** Order of one worker process. */
export interface WorkerOrder {
  readonly engine: EngineName;
  /** Folder of the repository. */
  readonly root: string;
  readonly store: StoreAddress & { readonly url: string };
  readonly redis: string;
  /** Address of the Temporal server, for the engine of that name. */
  readonly temporal: string;
  readonly effects: string;
  /** Version of the code that it runs. */
  readonly version: 1 | 2;
  /** Milliseconds by which the clock of its machine is wrong. */
  readonly skewMs: number;
}

export const engineNames = ['embedded', 'temporal'] as const;
export type EngineName = (typeof engineNames)[number];

export const tenants = ['one', 'two', 'three'] as const;
export const paymentsOfTask = 3;
export const roundMs = 60;
export const leaseMs = 2_000;
export const slots = 8;
/** Milliseconds within which a cancel must have ended a run, wherever it is. */
export const cancelWithinMs = 1_000;
