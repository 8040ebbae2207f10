import { at, cron, nextInstants } from 'adjutant/triggers';
import { describe, expect, test } from 'vitest';

const newYork = 'America/New_York';
const berlin = 'Europe/Berlin';
/** Clocks change by half an hour: on 3 October from 2:00 to 2:30, on 4 April from 2:00 to 1:30. */
const lordHowe = 'Australia/Lord_Howe';

function instants(pattern: string, timeZone: string, from: string, count: number) {
  return nextInstants(cron(pattern, { timeZone }), { from: Date.parse(from), count }).map(
    (instant) => new Date(instant).toISOString().replace(':00.000Z', 'Z'),
  );
}

test.each<[string, string, string, string, readonly string[]]>([
  [
    'the gap, daily at a time that does not exist: at the first instant that does',
    ...(['30 2 * * *', newYork, '2027-03-13T00:00Z'] as const),
    ['2027-03-13T07:30Z', '2027-03-14T07:00Z', '2027-03-15T06:30Z'],
  ],
  [
    'the gap, daily before and after it: as ever',
    ...(['59 1,3 * * *', newYork, '2027-03-14T00:00Z'] as const),
    ['2027-03-14T06:59Z', '2027-03-14T07:59Z', '2027-03-15T05:59Z'],
  ],
  [
    'the gap, half-hourly: by elapsed time',
    ...(['*/30 * * * *', newYork, '2027-03-14T06:00Z'] as const),
    ['2027-03-14T06:30Z', '2027-03-14T07:00Z', '2027-03-14T07:30Z', '2027-03-14T08:00Z'],
  ],
  [
    'the overlap, daily: the first time only',
    ...(['30 1 * * *', newYork, '2027-11-06T06:00Z'] as const),
    ['2027-11-07T05:30Z', '2027-11-08T06:30Z'],
  ],
  [
    'the overlap, hourly: both hours',
    ...(['0 * * * *', newYork, '2027-11-07T04:30Z'] as const),
    ['2027-11-07T05:00Z', '2027-11-07T06:00Z', '2027-11-07T07:00Z'],
  ],
  [
    'the overlap, every 30 minutes of one hour: the first time only',
    ...(['*/30 1 * * *', newYork, '2027-11-07T04:30Z'] as const),
    ['2027-11-07T05:00Z', '2027-11-07T05:30Z', '2027-11-08T06:00Z'],
  ],
  [
    'the gap in Berlin, weekdays too',
    ...(['15 2 * * 0', berlin, '2027-03-22T00:00Z'] as const),
    ['2027-03-28T01:00Z', '2027-04-04T00:15Z'],
  ],
  [
    'the overlap in Berlin',
    ...(['45 2 * * *', berlin, '2027-10-30T12:00Z'] as const),
    ['2027-10-31T00:45Z', '2027-11-01T01:45Z'],
  ],
  [
    'the overlap in Berlin, every minute',
    ...(['* * * * *', berlin, '2027-10-31T00:58Z'] as const),
    ['2027-10-31T00:59Z', '2027-10-31T01:00Z', '2027-10-31T01:01Z'],
  ],
  [
    'a gap of half an hour',
    ...(['15 2 * * *', lordHowe, '2027-10-02T00:00Z'] as const),
    ['2027-10-02T15:30Z', '2027-10-03T15:15Z'],
  ],
  [
    'an overlap of half an hour',
    ...(['45 1 * * *', lordHowe, '2027-04-02T20:00Z'] as const),
    ['2027-04-03T14:45Z', '2027-04-04T15:15Z'],
  ],
  [
    'an overlap of half an hour, every 15 minutes',
    ...(['*/15 * * * *', lordHowe, '2027-04-03T14:15Z'] as const),
    ['2027-04-03T14:30Z', '2027-04-03T14:45Z', '2027-04-03T15:00Z', '2027-04-03T15:15Z'],
  ],
  [
    'a gap of half an hour, every 15 minutes',
    ...(['*/15 * * * *', lordHowe, '2027-10-02T15:00Z'] as const),
    ['2027-10-02T15:15Z', '2027-10-02T15:30Z', '2027-10-02T15:45Z'],
  ],
  [
    'a gap of half an hour, hourly: an hour whose beginning the clock never shows is left out',
    ...(['0 * * * *', lordHowe, '2027-10-02T14:00Z'] as const),
    ['2027-10-02T14:30Z', '2027-10-02T16:00Z', '2027-10-02T17:00Z'],
  ],
  [
    'a zone without changes',
    ...(['30 2 * * *', 'UTC', '2027-03-14T00:00Z'] as const),
    ['2027-03-14T02:30Z', '2027-03-15T02:30Z'],
  ],
  [
    'a day that a zone left out',
    ...(['0 8 * * *', 'Pacific/Apia', '2011-12-29T00:00Z'] as const),
    ['2011-12-29T18:00Z', '2011-12-30T10:00Z', '2011-12-30T18:00Z'],
  ],
])('%s', (_, pattern, timeZone, from, expected) => {
  expect(instants(pattern, timeZone, from, expected.length)).toEqual(expected);
});

test('dst_gap_three_patterns_one_instant', () => {
  expect(instants('0,30,59 2 * * *', newYork, '2027-03-14T00:00Z', 2)).toEqual([
    '2027-03-14T07:00Z',
    '2027-03-15T06:00Z',
  ]);
  expect(instants('0,30 2-3 * * *', newYork, '2027-03-14T00:00Z', 2)).toEqual([
    '2027-03-14T07:00Z',
    '2027-03-14T07:30Z',
  ]);
});

test('dst_overlap_once_and_hourly_twice', () => {
  const within = (pattern: string) =>
    instants(pattern, newYork, '2027-11-07T04:59Z', 300).filter((at) => at < '2027-11-07T07:00Z');
  expect(within('15 1 * * *')).toHaveLength(1);
  expect(within('15 * * * *')).toHaveLength(2);
  expect(within('*/15 * * * *')).toHaveLength(8);
});

test('an instant that is asked for in the second pass of an hour does not fire again', () => {
  expect(instants('30 1 * * *', newYork, '2027-11-07T06:10Z', 1)).toEqual(['2027-11-08T06:30Z']);
  expect(instants('30 1 * * *', newYork, '2027-11-07T05:30Z', 1)).toEqual(['2027-11-08T06:30Z']);
});

describe('at, with a local time', () => {
  test.each([
    ['2027-06-01T15:00', berlin, '2027-06-01T13:00:00.000Z'],
    ['2027-06-01 15:00:30', berlin, '2027-06-01T13:00:30.000Z'],
    ['2027-03-28T02:30', berlin, '2027-03-28T01:00:00.000Z'],
    ['2027-10-31T02:30', berlin, '2027-10-31T00:30:00.000Z'],
    ['2027-10-31T03:30', berlin, '2027-10-31T02:30:00.000Z'],
    ['2027-10-03T02:15', lordHowe, '2027-10-02T15:30:00.000Z'],
    ['2011-12-30T08:00', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
  ])('%s in %s', (text, timeZone, expected) => {
    expect(new Date(at(text, { timeZone }).instant).toISOString()).toBe(expected);
  });
});
