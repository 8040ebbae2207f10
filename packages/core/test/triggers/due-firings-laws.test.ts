import {
  at,
  cron,
  dueFirings,
  every,
  firingPolicy,
  type MissedPolicy,
  nextInstant,
  type Schedule,
} from 'adjutant/triggers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const minute = 60_000;
const hour = 60 * minute;

/** One wake of a trigger, by any process. */
interface Wake {
  /** Clock before the wake: at the instant asked for, or so much later or back. */
  readonly clock: 'as asked' | { readonly byMs: number };
  /** Firings after which the process is killed; the next wake knows `considered` alone. */
  readonly killedAfter: number;
}

const start = fc.constantFrom(
  ...['2027-03-13T20:00Z', '2027-11-06T20:00Z', '2027-03-27T20:00Z', '2027-10-30T20:00Z'],
  ...['2027-04-03T08:00Z', '2027-10-02T08:00Z', '2027-06-01T12:34:56.789Z'],
);

const zone = fc.constantFrom('America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'UTC');
const pattern = fc.constantFrom(
  ...['*/5 * * * *', '*/20 * * * *', '0 * * * *', '*/15 1-3 * * *', '30 2 * * *', '45 1 * * *'],
  ...['0 */2 * * *', '0,15,59 2 * * 0', '*/50 */7 2 * * *', '59 1 * * 6'],
);
const interval = fc.integer({ min: 1_000, max: 5 * hour });

/** Schedules as functions of the beginning, since `at` needs an instant near it. */
const schedule: fc.Arbitrary<(from: number) => Schedule> = fc.oneof(
  fc.tuple(pattern, zone).map(
    ([text, timeZone]) =>
      () =>
        cron(text, { timeZone }),
  ),
  fc.tuple(interval, fc.integer({ min: 0, max: 100 })).map(
    ([ms, percent]) =>
      () =>
        every(ms, { jitterMs: Math.floor((ms * percent) / 100) }),
  ),
  fc.integer({ min: -hour, max: 40 * hour }).map((ms) => (from: number) => at(from + ms)),
);

const wakes: fc.Arbitrary<readonly Wake[]> = fc.array(
  fc.record({
    clock: fc.oneof(
      fc.constant('as asked' as const),
      fc.record({ byMs: fc.integer({ min: 0, max: 3 * minute }) }),
      fc.record({ byMs: fc.integer({ min: -3 * hour, max: 9 * hour }) }),
    ),
    killedAfter: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat({ max: 5 })),
  }),
  { maxLength: 25 },
);

/** Everything that a trigger did over a sequence of wakes. */
function simulate(made: Schedule, missed: MissedPolicy, from: number, sequence: readonly Wake[]) {
  const policy = firingPolicy(made, { missed, mostPerHour: 1_000_000 });
  const fired: { readonly instant: number; readonly standsFor: number }[] = [];
  let considered = from;
  let now = from;
  let latest = from;
  let leftOut = 0;
  let asked: number | undefined = from;
  const last: Wake = { clock: { byMs: 0 }, killedAfter: Number.POSITIVE_INFINITY };
  for (const { clock, killedAfter } of [...sequence, last]) {
    now = clock === 'as asked' ? Math.max(now, asked ?? now) : now + clock.byMs;
    // By more than a day back, a trigger begins again: due-firings.test.ts.
    latest = Math.max(latest, now);
    now = Math.max(now, latest - 20 * hour);
    // A clock that went back is right again at the end.
    if (clock === last.clock) now = latest;
    const due = dueFirings(made, policy, { considered, anchor: from, triggerId: 't', now });
    for (const { instant, firesAt, standsFor } of due.firings.slice(0, killedAfter)) {
      expect(firesAt).toBeLessThanOrEqual(now);
      expect(firesAt).toBeGreaterThanOrEqual(instant);
      expect(instant).toBeGreaterThan(considered);
      fired.push({ instant, standsFor });
      considered = instant;
    }
    if (killedAfter === 0) continue;
    for (const decision of due.decisions)
      if (decision.decision !== 'missed_joined' && 'count' in decision) leftOut += decision.count;
    if (killedAfter < due.firings.length) continue;
    considered = due.considered;
    asked = due.wakeAt;
    // Nothing that is due now is left, so that no wake leads to another at once.
    expect(asked ?? now + 1).toBeGreaterThan(now);
  }
  return { fired, leftOut, expected: dueUntil(made, from, latest) };
}

/** The instants whose firing is due until `until`, found one after the other. */
function dueUntil(made: Schedule, from: number, until: number): readonly number[] {
  const found: number[] = [];
  let after = from;
  for (;;) {
    const next = nextInstant(made, { after, anchor: from, triggerId: 't' });
    if (next === undefined || next.firesAt > until) return found;
    found.push(next.instant);
    after = next.instant;
  }
}

const situations = fc.tuple(schedule, start.map(Date.parse), wakes);

describe('over early and late wakes, clocks that go back, and processes that are killed', () => {
  test('`all` fires each due instant once, in order, none before it is due', () => {
    fc.assert(
      fc.property(situations, ([make, from, sequence]) => {
        const { fired, leftOut, expected } = simulate(make(from), 'all', from, sequence);
        const instants = fired.map(({ instant }) => instant);
        expect(instants).toEqual(instants.toSorted((one, other) => one - other));
        if (leftOut === 0) expect(instants).toEqual(expected);
        expect(new Set(instants).size).toBe(instants.length);
        expect(instants.length + leftOut).toBe(expected.length);
        const due = new Set(expected);
        expect(instants.filter((instant) => !due.has(instant))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('`once` counts every due instant once', () => {
    fc.assert(
      fc.property(situations, ([make, from, sequence]) => {
        const { fired, expected } = simulate(make(from), 'once', from, sequence);
        expect(fired.reduce((sum, { standsFor }) => sum + standsFor, 0)).toBe(expected.length);
      }),
      { numRuns: 300 },
    );
  });

  test('`skip` fires or reports every due instant once', () => {
    fc.assert(
      fc.property(situations, ([make, from, sequence]) => {
        const { fired, leftOut, expected } = simulate(make(from), 'skip', from, sequence);
        expect(fired.length + leftOut).toBe(expected.length);
      }),
      { numRuns: 300 },
    );
  });
});

test('a second process that was woken too finds nothing due, whatever the first did', () => {
  fc.assert(
    fc.property(schedule, start.map(Date.parse), fc.nat({ max: 40 * hour }), (make, from, ms) => {
      const made = make(from);
      const policy = firingPolicy(made, { missed: 'all', mostPerHour: 1_000_000 });
      const asked = { anchor: from, triggerId: 't', now: from + ms };
      const first = dueFirings(made, policy, { considered: from, ...asked });
      const second = dueFirings(made, policy, { considered: first.considered, ...asked });
      expect(second).toEqual({ ...first, firings: [], decisions: [] });
    }),
  );
});
