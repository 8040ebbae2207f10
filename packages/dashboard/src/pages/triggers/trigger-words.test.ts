import { expect, test } from 'vitest';
import { causeWords, cronWords, hasSchedule, intervalWords } from './schedule-words.ts';
import { blankFields, placeIn, scheduleOf, triggerOf } from './trigger-form.ts';

test('Usual patterns are said in words, others as they are', () => {
  expect(cronWords('0 2 * * *')).toBe('every day at 02:00');
  expect(cronWords('30 8 * * 1')).toBe('Mondays at 08:30');
  expect(cronWords('0 8 * * 7')).toBe('Sundays at 08:00');
  expect(cronWords('0 8 * * 1-5')).toBe('Monday to Friday at 08:00');
  expect(cronWords('*/15 * * * *')).toBe('every 15 minutes');
  expect(cronWords('5 * * * *')).toBe('every hour at :05');
  expect(cronWords('0 8 1 * *')).toBe('0 8 1 * *');
  expect(cronWords('0 8,9 * * *')).toBe('0 8,9 * * *');
});

test('Intervals are said in their largest unit', () => {
  expect(intervalWords(900_000)).toBe('every 15 minutes');
  expect(intervalWords(3_600_000)).toBe('every hour');
  expect(intervalWords(90_000)).toBe('every 90 seconds');
  expect(intervalWords(172_800_000)).toBe('every 2 days');
});

test('Each cause has its words', () => {
  const timeOf = (at: number): string => `<${at}>`;
  expect(causeWords({ kind: 'cron', pattern: '0 2 * * *' }, timeOf)).toBe(
    'every day at 02:00, UTC',
  );
  expect(causeWords({ kind: 'at', instant: 5 }, timeOf)).toBe('once, <5>');
  expect(causeWords({ kind: 'at', instant: '1970-01-01T00:00Z' }, timeOf)).toBe('once, <0>');
  expect(causeWords({ kind: 'event', pattern: 'scan.*' }, timeOf)).toBe('on the event scan.*');
  expect(causeWords({ kind: 'webhook' }, timeOf)).toBe('when another system calls');
  expect(hasSchedule({ kind: 'every' })).toBe(true);
  expect(hasSchedule({ kind: 'event' })).toBe(false);
});

test('A form gives the schedule that it shows', () => {
  expect(scheduleOf({ ...blankFields, timeZone: 'Europe/Berlin' })).toEqual({
    kind: 'cron',
    pattern: '0 8 * * 1-5',
    timeZone: 'Europe/Berlin',
  });
  expect(scheduleOf({ ...blankFields, kind: 'every' })).toEqual({
    kind: 'every',
    everyMs: 900_000,
  });
  expect(scheduleOf({ ...blankFields, kind: 'at', instant: '2027-01-01T00:00Z' })).toEqual({
    kind: 'at',
    instant: 1_798_761_600_000,
  });
});

test('A form that is not whole says what is missing', () => {
  const named = { ...blankFields, name: ' morning ', start: 'clerk' };
  expect(triggerOf(blankFields)).toBe('Give it a name.');
  expect(triggerOf({ ...named, start: '' })).toBe('Choose what it starts.');
  expect(triggerOf({ ...named, pattern: ' ' })).toBe('Write a pattern, such as 0 8 * * 1-5.');
  expect(triggerOf({ ...named, kind: 'every', every: 'often' })).toBe(
    'Write how often, as a number.',
  );
  expect(triggerOf({ ...named, kind: 'at' })).toBe('Choose a day and a time.');
  expect(triggerOf({ ...named, kind: 'event' })).toBe('Write a type of events, such as mail.*.');
});

test('A whole form gives a trigger without what was left as usual', () => {
  const fields = { ...blankFields, name: ' morning ', start: 'clerk', kind: 'event' } as const;
  expect(triggerOf({ ...fields, eventPattern: 'mail.*' })).toEqual({
    name: 'morning',
    on: { kind: 'event', pattern: 'mail.*' },
    start: 'clerk',
  });
  expect(
    triggerOf({ ...fields, eventPattern: 'mail.*', input: 'Go', overlap: 'queue', missed: 'all' }),
  ).toMatchObject({ input: 'Go', overlap: 'queue', missed: 'all' });
});

test('Instants outside of a span have no place in it', () => {
  expect(placeIn(50, 0, 100)).toBe(50);
  expect(placeIn(-1, 0, 100)).toBeUndefined();
  expect(placeIn(101, 0, 100)).toBeUndefined();
});
