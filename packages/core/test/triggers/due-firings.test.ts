import {
  at,
  cron,
  type DueFirings,
  dueFirings,
  event,
  every,
  type FiringOptions,
  type FiringQuestion,
  firingPolicy,
  hourlyAllowance,
  nextInstant,
  type Schedule,
  type TriggerOn,
} from 'adjutant/triggers';
import { describe, expect, test } from 'vitest';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const noon = Date.parse('2027-06-01T12:00Z');

function wake(
  schedule: Schedule,
  options: FiringOptions,
  question: Partial<FiringQuestion>,
): DueFirings {
  const asked = { considered: noon, anchor: noon, triggerId: 't', now: noon, ...question };
  return dueFirings(schedule, firingPolicy(schedule, options), asked);
}

const quarter = every('15m');

describe('a wake only asks', () => {
  test('fires what is due, and says when to ask again', () => {
    expect(wake(quarter, {}, { now: noon + 15 * minute })).toEqual({
      firings: [
        { instant: noon + 15 * minute, firesAt: noon + 15 * minute, missed: false, standsFor: 1 },
      ],
      decisions: [],
      considered: noon + 15 * minute,
      wakeAt: noon + 30 * minute,
    });
  });

  test('one that is too early arms again', () => {
    expect(wake(quarter, {}, { now: noon + 15 * minute - 1 })).toEqual({
      firings: [],
      decisions: [],
      considered: noon,
      wakeAt: noon + 15 * minute,
    });
  });

  test('zone_data_change_between_arm_and_wake: the last considered instant decides', () => {
    const considered = Date.parse('2027-06-01T06:00Z');
    const before = cron('0 8 * * *', { timeZone: 'Europe/Berlin' });
    expect(wake(before, {}, { considered }).wakeAt).toBe(considered + day);
    // The zone keeps winter time from now on: 8:00 is at 7:00 UTC.
    const after = cron('0 8 * * *', { timeZone: 'Etc/GMT-1' });
    const asked = wake(after, {}, { considered, now: considered + day });
    expect(asked).toMatchObject({ firings: [{ instant: considered + hour, missed: true }] });
    expect(asked.wakeAt).toBe(considered + day + hour);
  });

  test('clock_back_after_firing: nothing fires again, and the next comes at its instant', () => {
    const fired = wake(quarter, {}, { now: noon + 15 * minute });
    const { considered } = fired;
    const back = wake(quarter, {}, { considered, now: noon - 3 * hour });
    expect(back).toEqual({ ...fired, firings: [] });
  });

  test('at fires once and is done', () => {
    const once = at(noon + hour);
    expect(wake(once, {}, { now: noon }).wakeAt).toBe(noon + hour);
    expect(wake(once, {}, { now: noon + hour })).toMatchObject({
      firings: [{ instant: noon + hour, missed: false }],
      wakeAt: undefined,
    });
    expect(wake(once, {}, { considered: noon + hour, now: noon + day }).firings).toEqual([]);
    const late = { now: noon + 2 * hour };
    expect(wake(once, {}, late).firings).toMatchObject([{ missed: true, standsFor: 1 }]);
    expect(wake(once, { missed: 'skip' }, late)).toMatchObject({
      firings: [],
      decisions: [{ decision: 'missed_skipped', count: 1 }],
    });
  });

  test('a clock with parts of milliseconds skips nothing', () => {
    const hourly = cron('0 * * * *', { timeZone: 'Europe/Berlin' });
    for (const schedule of [hourly, every('1h'), at(noon + hour)]) {
      const question = { considered: noon + hour - 0.5, anchor: noon + 0.25 };
      const { firings, considered } = wake(schedule, {}, { ...question, now: noon + hour + 0.75 });
      expect(firings).toMatchObject([{ instant: noon + hour, standsFor: 1 }]);
      expect(considered).toBe(noon + hour);
    }
  });

  test('a jitter delays the firing and not the instant', () => {
    const jittered = every('15m', { jitterMs: 5 * minute });
    const next = nextInstant(jittered, { after: noon, anchor: noon, triggerId: 't' });
    const { instant = 0, firesAt = 0 } = next ?? {};
    expect(firesAt).toBeGreaterThan(instant);
    expect(wake(jittered, {}, { now: firesAt - 1 })).toMatchObject({
      firings: [],
      wakeAt: firesAt,
    });
    expect(wake(jittered, {}, { now: firesAt }).firings).toMatchObject([
      { ...next, missed: false },
    ]);
  });
});

describe('missed firings', () => {
  test('outage_a_day_all_policies', () => {
    const after = { now: noon + day + minute / 2 };
    const first = noon + 15 * minute;
    expect(wake(quarter, { missed: 'skip' }, after)).toMatchObject({
      firings: [{ instant: noon + day, missed: false, standsFor: 1 }],
      decisions: [{ decision: 'missed_skipped', count: 95, first, last: noon + day - 15 * minute }],
      considered: noon + day,
      wakeAt: noon + day + 15 * minute,
    });
    expect(wake(quarter, { missed: 'once' }, after)).toMatchObject({
      firings: [{ instant: noon + day, standsFor: 96 }],
      decisions: [{ decision: 'missed_joined', count: 96, first, last: noon + day }],
      considered: noon + day,
    });
    const all = wake(quarter, { missed: 'all' }, after);
    expect(all.firings.map(({ instant }) => (instant - noon) / minute / 15)).toEqual(
      Array.from({ length: 96 }, (_, index) => index + 1),
    );
    expect(all.firings.filter(({ missed }) => missed)).toHaveLength(95);
    expect(all.decisions).toEqual([]);
  });

  test('of more than 100 the newest fire, and a decision has the rest', () => {
    const minutely = cron('* * * * *');
    const { firings, decisions, considered } = wake(
      minutely,
      { missed: 'all' },
      { now: noon + day },
    );
    expect(firings).toHaveLength(100);
    expect(firings[0]?.instant).toBe(noon + day - 99 * minute);
    expect(considered).toBe(noon + day);
    expect(decisions).toEqual([
      {
        decision: 'missed_dropped',
        reasoning:
          'Dropped 1340 instants from 2027-06-01T12:01:00.000Z to 2027-06-02T10:20:00.000Z: ' +
          'at most 100 fire after an outage.',
        count: 1340,
        first: noon + minute,
        last: noon + day - 100 * minute,
      },
    ]);
  });

  test('of more than 100 with a jitter the newest that are due fire', () => {
    const jittered = every('1m', { jitterMs: minute });
    for (let now = noon + day; now < noon + day + 10 * minute; now += 7_000) {
      const { firings, decisions, considered } = wake(jittered, { missed: 'all' }, { now });
      expect(firings).toHaveLength(100);
      expect(firings.filter(({ firesAt }) => firesAt > now)).toEqual([]);
      const count = (considered - noon) / minute - 100;
      expect(decisions).toMatchObject([{ decision: 'missed_dropped', count }]);
    }
  });

  test('are late by more than the tolerance: the period, and at most a minute', () => {
    const isMissed = (schedule: Schedule, lateMs: number, toleranceMs?: number) => {
      const due = nextInstant(schedule, { after: noon, anchor: noon, triggerId: 't' });
      const options = { missed: 'all', mostPerHour: 3_600, toleranceMs } as const;
      const now = (due?.firesAt ?? 0) + lateMs;
      return wake(schedule, options, { now }).firings[0]?.missed;
    };
    expect(isMissed(quarter, minute)).toBe(false);
    expect(isMissed(quarter, minute + 1)).toBe(true);
    expect(isMissed(quarter, minute + 1, 2 * minute)).toBe(false);
    expect(isMissed(quarter, 1, 0)).toBe(true);
    expect(isMissed(every('5s'), 4_999)).toBe(false);
    expect(isMissed(every('5s'), 5_001)).toBe(true);
    expect(isMissed(at(noon + 1), minute)).toBe(false);
    expect(isMissed(at(noon + 1), minute + 1)).toBe(true);
  });

  test('a large tolerance does not start more than 100 at once', () => {
    const options = { missed: 'skip', toleranceMs: day } as const;
    const { firings, decisions } = wake(every('1m'), options, { now: noon + 3 * hour });
    expect(firings).toHaveLength(100);
    expect(decisions).toMatchObject([{ decision: 'missed_skipped', count: 80 }]);
  });

  test('edit_daily_to_minutely_no_catch_up: nothing before the edit is considered', () => {
    const edited = noon + 7 * hour;
    const minutely = { considered: edited, anchor: edited, now: edited + minute };
    expect(wake(cron('* * * * *'), { missed: 'all' }, minutely).firings).toHaveLength(1);
    expect(wake(every('1m'), { missed: 'all' }, minutely).firings).toHaveLength(1);
  });

  test('of a year are counted without being listed', () => {
    const now = noon + 365 * day;
    const minutely = cron('* * * * *', { timeZone: 'America/New_York' });
    expect(wake(minutely, {}, { now }).firings).toMatchObject([{ standsFor: 365 * 24 * 60 }]);
    const daily = cron('30 1 * * *', { timeZone: 'America/New_York' });
    expect(wake(daily, {}, { now }).firings).toMatchObject([{ standsFor: 365 }]);
    const secondly = every('1s');
    const often = { mostPerHour: 3_600 };
    expect(wake(secondly, often, { now }).firings).toMatchObject([{ standsFor: 365 * 86_400 }]);
  });
});

describe('clock_forward_a_year_and_back', () => {
  test.each<[string, Schedule, number]>([
    ['every', quarter, 15 * minute],
    ['cron', cron('0 12 * * *'), day],
  ])('%s begins again from now, with a decision', (_, schedule, period) => {
    const future = wake(schedule, { missed: 'skip' }, { now: noon + 365 * day });
    const back = wake(schedule, {}, { considered: future.considered, now: noon + hour });
    expect(back.firings).toEqual([]);
    expect(back.decisions).toEqual([
      {
        decision: 'began_again',
        reasoning:
          'The last instant considered, 2028-05-31T12:00:00.000Z, lies more than a period and a ' +
          'day ahead of the clock, 2027-06-01T13:00:00.000Z. The trigger begins again from now.',
        considered: noon + 365 * day,
        now: noon + hour,
      },
    ]);
    expect(back.considered).toBe(noon + hour);
    const next = back.wakeAt ?? 0;
    expect(next).toBeGreaterThan(noon + hour);
    expect(next).toBeLessThanOrEqual(noon + hour + period);
    expect(wake(schedule, {}, { considered: back.considered, now: next })).toMatchObject({
      firings: [{ instant: next, standsFor: 1 }],
      decisions: [],
    });
  });

  test('an instant less than a period and a day ahead is waited for', () => {
    const ahead = (ms: number) => wake(quarter, {}, { considered: noon + ms, now: noon });
    expect(ahead(day + 15 * minute)).toMatchObject({
      decisions: [],
      considered: noon + day + 15 * minute,
    });
    expect(ahead(day + 30 * minute)).toMatchObject({ decisions: [{ decision: 'began_again' }] });
    const weekly = cron('0 12 * * 2');
    const considered = noon + 7 * day;
    expect(wake(weekly, {}, { considered, now: noon }).decisions).toEqual([]);
  });
});

describe('the most firings of an hour', () => {
  const fired = (count: number) =>
    Array.from({ length: count }, (_, index) => noon - (count - index) * 1_000);

  test('drop what is over them, and let the trigger sleep until the hour allows more', () => {
    const question = { now: noon + 30 * minute, firedAt: fired(3) };
    const { firings, decisions, wakeAt, considered } = wake(
      every('10m'),
      { missed: 'all', mostPerHour: 6 },
      { ...question, firedAt: fired(5) },
    );
    expect(firings).toMatchObject([{ instant: noon + 30 * minute }]);
    expect(decisions).toEqual([
      {
        decision: 'hourly_limit',
        reasoning:
          'Dropped 2 instants from 2027-06-01T12:10:00.000Z to 2027-06-01T12:20:00.000Z: ' +
          'the trigger has fired 6 times within an hour.',
        count: 2,
        first: noon + 10 * minute,
        last: noon + 20 * minute,
      },
    ]);
    expect(considered).toBe(noon + 30 * minute);
    expect(wakeAt).toBe(noon - 5_000 + hour);
    const within = wake(every('10m'), { missed: 'all', mostPerHour: 6 }, question);
    expect(within).toMatchObject({ decisions: [] });
    expect(within.firings).toHaveLength(3);
  });

  test('count for triggers without a schedule too', () => {
    const allowance = (count: number, now = noon) =>
      hourlyAllowance({ firedAt: fired(count), now, mostPerHour: 600 });
    expect(allowance(0)).toEqual({ left: 600, freeAt: undefined });
    expect(allowance(599)).toEqual({ left: 1, freeAt: undefined });
    expect(allowance(600)).toEqual({ left: 0, freeAt: noon - 600_000 + hour });
    expect(allowance(601)).toEqual({ left: 0, freeAt: noon - 600_000 + hour });
    expect(allowance(600, noon - 600_000 + hour)).toEqual({ left: 1, freeAt: undefined });
  });

  test('cycle_through_webhook_hits_hourly_most: 600 firings, and then one for one', () => {
    // Each firing calls a webhook that fires the trigger again, 100 ms later and without a cause.
    const firedAt: number[] = [];
    for (let now = noon; now < noon + 2 * hour; now += 100)
      if (hourlyAllowance({ firedAt: firedAt.slice(-600), now, mostPerHour: 600 }).left > 0)
        firedAt.push(now);
    expect(firedAt.filter((instant) => instant < noon + hour)).toHaveLength(600);
    expect(firedAt).toHaveLength(1_200);
  });

  test('of a clock that went back do not stop a trigger', () => {
    const question = { firedAt: fired(600), now: noon - 365 * day, mostPerHour: 600 };
    expect(hourlyAllowance(question)).toEqual({ left: 600, freeAt: undefined });
  });
});

test.each<[string, TriggerOn, object, string]>([
  ['an unknown policy', quarter, { missed: 'never' }, "one of 'skip', 'once', 'all'"],
  ['a negative tolerance', quarter, { toleranceMs: -1 }, '`toleranceMs` must be a number from 0'],
  ['no firings at all', quarter, { mostPerHour: 0 }, '`mostPerHour` must be a whole number from 1'],
  ['an unknown option', quarter, { tolerance: 5 }, 'did you mean `toleranceMs`?'],
  ['an interval under the limit', every('5s'), {}, 'more often than `mostPerHour` (600) allows'],
  ['a pattern of each second', cron('* * * * * *'), {}, 'more often than `mostPerHour` (600)'],
  ['a pattern of bursts', cron('* * 3 * * *'), { mostPerHour: 700 }, '`mostPerHour` (700)'],
  ['an unknown overlap', quarter, { overlap: 'drop' }, "one of 'skip', 'queue', 'coalesce'"],
  ['missed firings of events', event('a'), { missed: 'all' }, '`toleranceMs` are for schedules'],
  ['a limit under the schedule', cron('*/5 * * * *'), { mostPerHour: 11 }, '`mostPerHour` (11)'],
])('firingPolicy refuses %s', (_, schedule, options, message) => {
  const declare = () => firingPolicy(schedule, options as FiringOptions);
  expect(declare).toThrow(expect.objectContaining({ code: 'invalid_trigger' }));
  expect(declare).toThrow(message);
});

test('firingPolicy fills in the defaults', () => {
  const defaults = { missed: 'once', overlap: 'skip', mostPerHour: 600 };
  expect(firingPolicy(every('6s'))).toEqual(defaults);
  expect(firingPolicy(event('mail.received'), { overlap: 'queue' })).toEqual({
    ...defaults,
    overlap: 'queue',
  });
  const twelve = { mostPerHour: 12 };
  expect(firingPolicy(cron('*/5 * * * *'), twelve)).toEqual({ ...defaults, ...twelve });
});

test('dueFirings refuses what is no instant', () => {
  expect(() => wake(quarter, {}, { now: Number.NaN })).toThrow('`now` must be epoch milliseconds');
});
