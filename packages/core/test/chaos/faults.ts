import { setTimeout as wait } from 'node:timers/promises';
import type { Fleet } from './fleet.ts';
import { leaseMs } from './order.ts';
import type { Servers } from './servers.ts';

/** Servers and processes that faults happen to. */
export type Place = Servers & { readonly fleet: Fleet };

/** Something that goes wrong while work is under way; it is over when `happen` resolves. */
export interface Fault {
  readonly name: string;
  /** True for one that happens only where the engine has a server. */
  readonly needsEngine?: boolean;
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
  {
    name: 'the server of the engine is killed and comes back',
    needsEngine: true,
    happen: async ({ engine }) => engine?.away(awayMs),
  },
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
