import type { StoreAddress } from '../../crash/worker-store.ts';

/** Order of one process that looks after triggers. */
export interface FiringOrder {
  readonly store: StoreAddress;
  /** File to which each firing is written. */
  readonly effects: string;
  /** Instant at which the clock stands first. */
  readonly start: number;
  /** Number of patterns, each in three zones. */
  readonly patterns: number;
}

/** Longest time of the effect of a firing in milliseconds. */
export const effectMs = 1_000;

const zones = ['America/New_York', 'America/Chicago', 'America/Los_Angeles'] as const;
export const policies = ['once', 'skip', 'all'] as const;

/** Patterns around the hours in which clocks change, and far from them. */
const allPatterns: readonly string[] = [
  ...['30 2 * * *', '0 2 * * *', '30 1 * * *', '0 3 * * *', '15 */6 * * *', '0 8 * * 1-5'],
  ...['0 0 * * *', '0 1 * * *', '30 2 * * 0', '0 */4 * * *', '20 14 * * 1-5', '5 7 * * *'],
  ...['0 18 * * 5', '30 3 * * *', '45 23 * * 6', '0 12 * * 0', '0 9 1,15 * *'],
];

/** A trigger of the load. */
export interface LoadTrigger {
  readonly name: string;
  readonly pattern: string;
  readonly timeZone: string;
  readonly missed: (typeof policies)[number];
}

export function loadTriggers({ patterns }: FiringOrder): readonly LoadTrigger[] {
  return allPatterns.slice(0, patterns).flatMap((pattern, row) =>
    zones.map((timeZone, column) => ({
      name: `trigger-${row}-${column}`,
      pattern,
      timeZone,
      missed: policies[(row + column) % policies.length] as LoadTrigger['missed'],
    })),
  );
}
