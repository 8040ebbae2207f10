import { cronInstants } from './cron-instants.ts';
import type { InstantSource } from './instant-source.ts';
import type { Schedule } from './schedule.ts';

/**
 * Returns the instants of a schedule, which are whole milliseconds. The borders of a range may be
 * parts of them, since monotonic clocks are finer.
 * @param anchor the instant that an interval is counted from
 */
export function instantsOf(schedule: Schedule, anchor: number): InstantSource {
  const source = sourceOf(schedule, Math.floor(anchor));
  return {
    next: (after) => source.next(Math.floor(after)),
    count: (after, until) => source.count(Math.floor(after), Math.floor(until)),
    newest: (limit, after, until) => source.newest(limit, Math.floor(after), Math.floor(until)),
  };
}

function sourceOf(schedule: Schedule, anchor: number): InstantSource {
  switch (schedule.kind) {
    case 'cron':
      return cronInstants(schedule);
    case 'every':
      return intervalInstants(schedule.everyMs, anchor);
    case 'at':
      return onceInstants(schedule.instant);
  }
}

function intervalInstants(everyMs: number, anchor: number): InstantSource {
  const numberOf = (instant: number): number => Math.floor((instant - anchor) / everyMs);
  const instantOf = (number: number): number => anchor + number * everyMs;
  const count = (after: number, until: number): number =>
    Math.max(0, numberOf(until) - numberOf(after));
  return {
    next: (after) => instantOf(numberOf(after) + 1),
    count,
    newest: (limit, after, until) => {
      const length = Math.min(limit, count(after, until));
      return Array.from({ length }, (_, index) => instantOf(numberOf(until) - length + 1 + index));
    },
  };
}

function onceInstants(instant: number): InstantSource {
  const isIn = (after: number, until: number): boolean => after < instant && instant <= until;
  return {
    next: (after) => (after < instant ? instant : undefined),
    count: (after, until) => (isIn(after, until) ? 1 : 0),
    newest: (_, after, until) => (isIn(after, until) ? [instant] : []),
  };
}
