import { cron, dueFirings, firingPolicy, nextInstant, type Schedule } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { referenceInstants } from './reference.ts';

/** Fifty patterns, of which many fall into the hours in which clocks change. */
const patterns = [
  ...['* * * * *', '*/5 * * * *', '*/7 * * * *', '*/15 * * * *', '*/30 * * * *', '0 * * * *'],
  ...['30 * * * *', '45 * * * *', '15,45 * * * *', '0 0-23 * * *', '10 */1 * * *', '5 * * * 1-5'],
  ...[
    '0 */2 * * *',
    '0 */3 * * *',
    '30 */2 * * *',
    '0 */6 * * *',
    '20 1-3 * * *',
    '*/20 1-3 * * *',
  ],
  ...['0 0 * * *', '0 1 * * *', '30 1 * * *', '45 1 * * *', '59 1 * * *', '0 2 * * *'],
  ...['1 2 * * *', '15 2 * * *', '29 2 * * *', '30 2 * * *', '45 2 * * *', '59 2 * * *'],
  ...['0 3 * * *', '15 3 * * *', '30 3 * * *', '0 8 * * *', '0 8 * * 1-5', '30 17 * * 5'],
  ...['0 2 * * 0', '30 2 * * 0', '30 1 * * 0', '15 2 14 3 *', '30 2 28 3 *', '30 1 7 11 *'],
  ...['30 2 31 10 *', '0 12 1,15 * *', '0 12 1 * 1', '0 9 */3 * *', '0 2-3 * * 6,0'],
  ...['*/10 2 * * *', '0,30 0-4 * * *', '0 23 * * *'],
];

const day = 86_400_000;

/** Instants in (`from`, `until`], each asked for after the one before. */
function instantsOf(schedule: Schedule, from: number, until: number): readonly number[] {
  const found: number[] = [];
  for (let after = from; ; ) {
    const next = nextInstant(schedule, { after, anchor: from, triggerId: 't' });
    if (next === undefined || next.instant > until) return found;
    after = next.instant;
    found.push(after);
  }
}

/** Firings until an instant, where each wake is the one that the wake before it asked for. */
function firingsOf(schedule: Schedule, from: number, until: number): readonly number[] {
  const policy = firingPolicy(schedule);
  const found: number[] = [];
  let question = { considered: from, anchor: from, triggerId: 't', now: from };
  while (question.now <= until) {
    const { firings, considered, wakeAt } = dueFirings(schedule, policy, question);
    for (const { instant } of firings) found.push(instant);
    question = { ...question, considered, now: wakeAt ?? until + 1 };
  }
  return found;
}

const shown = (instants: readonly number[]) =>
  instants.map((instant) => new Date(instant).toISOString());

test.each([
  ['America/New_York', '2027-03-14'],
  ['America/New_York', '2027-11-07'],
  ['Europe/Berlin', '2027-03-28'],
  ['Europe/Berlin', '2027-10-31'],
  ['Australia/Lord_Howe', '2027-04-04'],
  ['Australia/Lord_Howe', '2027-10-03'],
])('50 triggers fire as a look at every minute says: %s, a week around %s', (timeZone, change) => {
  expect(patterns).toHaveLength(50);
  const from = Date.parse(`${change}T00:00Z`) - 7 * day;
  const until = from + 14 * day;
  const expected = referenceInstants(patterns, timeZone, from, until);
  patterns.forEach((pattern, index) => {
    const schedule = cron(pattern, { timeZone });
    const reference = [pattern, ...shown(expected[index] ?? [])];
    expect([pattern, ...shown(instantsOf(schedule, from, until))]).toEqual(reference);
    // Wakes of each few minutes would cost more than they show.
    if (reference.length < 1_000)
      expect([pattern, ...shown(firingsOf(schedule, from, until))]).toEqual(reference);
  });
});
