import { setTimeout as wait } from 'node:timers/promises';
import type { OwnPostgres } from '../../../../scripts/postgres-server.ts';
import type { Fleet } from './fleet.ts';
import { leaseMs } from './order.ts';

/** Servers and processes that faults happen to. */
export interface Place {
  readonly fleet: Fleet;
  readonly postgres: OwnPostgres;
  /** Ends Redis, and starts it again on its port. */
  readonly redis: { away(ms: number): Promise<void> };
}

/** Something that goes wrong while work is under way; it is over when `happen` resolves. */
export interface Fault {
  readonly name: string;
  readonly happen: (place: Place) => Promise<void>;
}

const awayMs = 1_500;

export const faults: readonly Fault[] = [
  { name: 'a worker is killed', happen: ({ fleet }) => fleet.kill(0) },
  {
    name: 'a worker is frozen until others have its work, and goes on',
    happen: ({ fleet }) => fleet.freeze(1, 2 * leaseMs),
  },
  { name: 'Redis is gone for a time', happen: ({ redis }) => redis.away(2 * awayMs) },
  { name: 'PostgreSQL fails and comes back', happen: ({ postgres }) => postgres.crash(awayMs) },
  { name: 'another version of the code is deployed', happen: ({ fleet }) => fleet.deploy() },
  {
    name: 'two workers are killed while PostgreSQL is away',
    happen: async ({ fleet, postgres }) => {
      const back = postgres.crash(awayMs);
      await fleet.kill(1);
      await fleet.kill(2);
      await back;
    },
  },
];

/** Time in which what a fault has left is taken over. */
export function calm(): Promise<void> {
  return wait(1.5 * leaseMs);
}
