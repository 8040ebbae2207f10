import { isQuiet, type QuietHours, sendingAllowedAt } from 'adjutant/notifications';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const minuteMs = 60_000;
const berlin = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
const at = (text: string): number => Date.parse(text);
const shown = (instant: number): string => new Date(instant).toISOString();

test.each([
  ['in the evening before they begin', '2026-11-27T20:59:59.999Z', '2026-11-27T20:59:59.999Z'],
  ['when they begin', '2026-11-27T21:00:00.000Z', '2026-11-28T06:00:00.000Z'],
  ['after midnight', '2026-11-28T01:23:45.678Z', '2026-11-28T06:00:00.000Z'],
  ['when they end', '2026-11-28T06:00:00.000Z', '2026-11-28T06:00:00.000Z'],
  ['at noon', '2026-11-28T11:00:00.000Z', '2026-11-28T11:00:00.000Z'],
  [
    'in the night in which an hour is missing',
    '2026-03-28T22:00:00.000Z',
    '2026-03-29T05:00:00.000Z',
  ],
  [
    'in the night in which an hour comes twice',
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T06:00:00.000Z',
  ],
])('%s', (_, now, expected) => {
  expect(shown(sendingAllowedAt(berlin, at(now)))).toBe(expected);
});

describe('hours that a change of the clock skips or repeats', () => {
  const until = (to: string): QuietHours => ({ ...berlin, to });

  test('an end that the clock skips comes with the change', () => {
    // 02:00 is followed by 03:00.
    const allowed = sendingAllowedAt(until('02:30'), at('2026-03-28T23:00:00Z'));
    expect(shown(allowed)).toBe('2026-03-29T01:00:00.000Z');
  });

  test('a beginning that the clock skips comes with the change', () => {
    const hours = { ...berlin, from: '02:30' };
    expect(isQuiet(hours, at('2026-03-29T00:59:59.999Z'))).toBe(false);
    expect(isQuiet(hours, at('2026-03-29T01:00:00Z'))).toBe(true);
  });

  test('quiet hours that the clock skips whole are not there that day', () => {
    const hours = { ...berlin, from: '02:15', to: '02:45' };
    expect(sendingAllowedAt(hours, at('2026-03-29T01:00:00Z'))).toBe(at('2026-03-29T01:00:00Z'));
    expect(isQuiet(hours, at('2026-03-28T01:20:00Z'))).toBe(true);
  });

  test('an hour that comes twice is quiet twice', () => {
    // 02:59 is followed by 02:00.
    const hours = { ...berlin, from: '02:15', to: '02:45' };
    const first = at('2026-10-25T00:20:00Z');
    expect(shown(sendingAllowedAt(hours, first))).toBe('2026-10-25T00:45:00.000Z');
    const second = at('2026-10-25T01:20:00Z');
    expect(shown(sendingAllowedAt(hours, second))).toBe('2026-10-25T01:45:00.000Z');
  });
});

/** Nights around both changes of the clock, one of half an hour, and one of a zone without any. */
const nights: readonly (readonly [timeZone: string, start: string])[] = [
  ['Europe/Berlin', '2026-03-28T12:00:00Z'],
  ['Europe/Berlin', '2026-10-24T12:00:00Z'],
  ['America/New_York', '2026-03-07T16:00:00Z'],
  ['America/New_York', '2026-10-31T16:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T02:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T02:00:00Z'],
  ['America/Sao_Paulo', '2018-11-03T15:00:00Z'],
  ['Asia/Kolkata', '2026-03-28T12:00:00Z'],
];

test.each(nights)('%s after %s: the wall clock decides for each minute', (timeZone, start) => {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, hourCycle: 'h23', hour: '2-digit', minute: '2-digit' },
  });
  const clock = Array.from({ length: 36 * 60 }, (_, minute) =>
    format.format(at(start) + minute * minuteMs),
  );
  const isQuietAt = ({ from, to }: { from: string; to: string }, minute: number): boolean => {
    const time = clock[minute] as string;
    return from < to ? from <= time && time < to : from <= time || time < to;
  };
  const time = fc
    .tuple(fc.nat({ max: 23 }), fc.nat({ max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
  const cases = fc.record({ from: time, to: time, minute: fc.nat({ max: 11 * 60 }) });
  fc.assert(
    fc.property(cases, ({ from, to, minute }) => {
      fc.pre(from !== to);
      const hours = { from, to, timeZone };
      const now = at(start) + minute * minuteMs;
      const allowed = sendingAllowedAt(hours, now);
      let expected = minute;
      while (expected < clock.length && isQuietAt(hours, expected)) expected++;
      fc.pre(expected < clock.length);
      expect(shown(allowed)).toBe(shown(at(start) + expected * minuteMs));
      expect(isQuiet(hours, now)).toBe(expected > minute);
      expect(isQuiet(hours, allowed)).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test.each([
  [
    { ...berlin, timeZone: 'Europe/Berln' },
    "`timeZone` must be a time zone such as 'Europe/Berlin'",
  ],
  [{ ...berlin, from: '24:00' }, '`from` must be a time such as \'22:00\', not "24:00"'],
  [{ ...berlin, to: '7:00' }, '`to` must be a time'],
  [{ from: '22:00', to: '07:00' }, '`timeZone` must be a time zone'],
  [{ ...berlin, to: '22:00' }, '`from` and `to` are both 22:00'],
  [{ ...berlin, timezone: 'Europe/Berlin' }, 'there is no option `timezone`'],
  [null, '`from` must be a time'],
])('%j is refused', (hours, said) => {
  const asked = () => sendingAllowedAt(hours as QuietHours, 0);
  expect(asked).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  expect(asked).toThrow(said);
});
