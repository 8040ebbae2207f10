import { step } from 'adjutant';

export const appName = 'scale-out';
/** Tasks that one worker process works on at a time. */
export const slots = 10;
/** Connections of each worker process. */
export const connections = 10;

/** A run that ends at once, so that all that is measured is ours and the database's. */
export const nothing = step({ name: 'nothing', execute: (ctx) => ctx.complete(true) });

/** `tell` asks only what has been used; a process that rests keeps its compiled code. */
export type Order = 'work' | 'tell' | 'rest';

/** Resources that a worker process has used since the order before. */
export interface Used {
  readonly cpuMs: number;
  readonly statements: number;
  readonly connections: number;
}
