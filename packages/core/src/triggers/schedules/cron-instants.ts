import { countLocalTimes, isHourly, localTimes } from './cron-pattern.ts';
import type { InstantSource } from './instant-source.ts';
import type { CronSchedule } from './schedule.ts';
import { dayMs, latestShown, offsetAt, stretches } from './zone.ts';

/** Local times that a stretch of a zone's time brings, each border as (`after`, `until`]. */
interface LocalSpan {
  /** Instant at which the stretch begins. */
  readonly from: number;
  readonly offset: number;
  /** Local times that are reached at once at `from`, because the clock leapt over them. */
  readonly leapt: { readonly after: number; readonly until: number };
  /** Local times that are reached one after the other. */
  readonly passed: { readonly after: number; readonly until: number };
}

/**
 * Instants of a cron pattern in a zone. A local time fires at the first instant at which the clock
 * of the zone shows it or a later one: one that does not exist fires when the clock leaps over it,
 * one that comes twice fires the first time. A pattern that fits in every hour follows elapsed time
 * instead: it fires whenever the clock shows a time that fits.
 */
export function cronInstants(schedule: CronSchedule): InstantSource {
  return {
    next: (after) => nextOf(schedule, after),
    count: (after, until) => countOf(schedule, after, until),
    newest: (limit, after, until) => newestOf(schedule, limit, after, until),
  };
}

function* spans(schedule: CronSchedule, after: number, until: number): Generator<LocalSpan> {
  const { pattern, timeZone } = schedule;
  if (until <= after) return;
  const hourly = isHourly(pattern);
  let shown = hourly ? 0 : latestShown(timeZone, after);
  for (const stretch of stretches(timeZone, after + 1, until)) {
    const { from, offset } = stretch;
    const first = from + offset;
    const last = stretch.until + offset;
    const start = hourly ? first - 1 : shown;
    yield {
      from,
      offset,
      leapt: { after: start, until: first },
      passed: { after: Math.max(start, first), until: last },
    };
    shown = Math.max(shown, last);
  }
}

function* instantsBetween(schedule: CronSchedule, after: number, until: number): Generator<number> {
  const { pattern } = schedule;
  for (const { from, offset, leapt, passed } of spans(schedule, after, until)) {
    if (countLocalTimes(pattern, leapt.after, leapt.until) > 0) yield from;
    for (const local of localTimes(pattern, passed.after, passed.until)) yield local - offset;
  }
}

function nextOf(schedule: CronSchedule, after: number): number | undefined {
  const { pattern, timeZone } = schedule;
  let from = after;
  for (;;) {
    // A day more in each direction than zones differ, so that no change of the clock matters.
    const offset = offsetAt(timeZone, from);
    const [local] = localTimes(pattern, from + offset - dayMs, Number.POSITIVE_INFINITY);
    if (local === undefined) return undefined;
    const start = Math.max(from, local - offset - 2 * dayMs);
    const [instant] = instantsBetween(schedule, start, start + 4 * dayMs);
    if (instant !== undefined) return instant;
    from = start + 4 * dayMs;
  }
}

function countOf(schedule: CronSchedule, after: number, until: number): number {
  let count = 0;
  for (const { leapt, passed } of spans(schedule, after, until)) {
    count += Math.min(1, countLocalTimes(schedule.pattern, leapt.after, leapt.until));
    count += countLocalTimes(schedule.pattern, passed.after, passed.until);
  }
  return count;
}

function newestOf(
  schedule: CronSchedule,
  limit: number,
  after: number,
  until: number,
): readonly number[] {
  // Windows that grow: after a long outage the newest few must not cost a list of all.
  for (let window = dayMs / 24; ; window *= 2) {
    const from = Math.max(after, until - window);
    const found = [...instantsBetween(schedule, from, until)];
    if (found.length >= limit || from === after) return found.slice(-limit);
  }
}
