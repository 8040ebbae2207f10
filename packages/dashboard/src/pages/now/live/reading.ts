import type {
  ServerAgent,
  ServerSession,
  ServerTask,
  ServerTrigger,
} from '@adjutant/server/client';
import type { Tail } from './tail.ts';

/** Everything that the page knows of the app, read together. */
export interface Reading {
  /** Sessions by what they do, those that changed last first. */
  readonly running: readonly ServerSession[];
  readonly waiting: readonly ServerSession[];
  readonly failed: readonly ServerSession[];
  /** The session that changed last, whatever it does. */
  readonly latest: ServerSession | undefined;
  readonly tails: readonly Tail[];
  /** Tasks that have not ended, in the order of the queue, and those that ended lately. */
  readonly tasks: readonly ServerTask[];
  readonly triggers: readonly ServerTrigger[];
  readonly agents: readonly ServerAgent[];
  /** Requests that wait for an answer. */
  readonly requests: number;
}

/** Returns the beginning of the day in which an instant lies, in the reader's zone. */
export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
