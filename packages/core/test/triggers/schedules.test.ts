import { at, cron, every, nextInstant, nextInstants, scheduleOf } from 'adjutant/triggers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const noon = Date.parse('2027-06-01T12:00Z');
const minute = 60_000;

function shown(instants: readonly number[]) {
  return instants.map((instant) => new Date(instant).toISOString().slice(0, 16));
}

describe('cron', () => {
  test.each<[string, readonly string[]]>([
    [
      '0 8 * * 1-5',
      ['2027-06-02T08:00', '2027-06-03T08:00', '2027-06-04T08:00', '2027-06-07T08:00'],
    ],
    ['0 8 * * mon,FRI', ['2027-06-04T08:00', '2027-06-07T08:00']],
    ['0 8 1 jan *', ['2028-01-01T08:00', '2029-01-01T08:00']],
    ['0 0 29 2 *', ['2028-02-29T00:00', '2032-02-29T00:00']],
    ['0 0 L * *', ['2027-06-30T00:00', '2027-07-31T00:00']],
    ['0 0 * * 1#1', ['2027-06-07T00:00', '2027-07-05T00:00']],
    ['0 0 15W * *', ['2027-06-15T00:00', '2027-07-15T00:00', '2027-08-16T00:00']],
    ['0 0 13 * 5', ['2027-06-04T00:00', '2027-06-11T00:00', '2027-06-13T00:00']],
    ['0 0 13 * +5', ['2027-08-13T00:00', '2028-10-13T00:00']],
    ['? ? * * *', ['2027-06-01T12:01', '2027-06-01T12:02']],
    ['0 0 12 1 1 * 2030', ['2030-01-01T12:00']],
    ['@daily', ['2027-06-02T00:00', '2027-06-03T00:00']],
    [' @Hourly ', ['2027-06-01T13:00', '2027-06-01T14:00']],
  ])('%s', (pattern, expected) => {
    const found = nextInstants(cron(pattern), { from: noon, count: expected.length });
    expect(shown(found)).toEqual(expected);
  });

  test('with seconds', () => {
    const found = nextInstants(cron('*/20 0 * * * *'), { from: noon, count: 3 });
    expect(found).toEqual([noon + 20_000, noon + 40_000, noon + 60 * minute]);
  });

  test('is plain JSON in UTC unless a zone is given', () => {
    expect(cron('0 8 * * *')).toEqual({ kind: 'cron', pattern: '0 8 * * *', timeZone: 'UTC' });
    const there = cron('0 8 * * *', { timeZone: 'Asia/Kolkata' });
    expect(JSON.parse(JSON.stringify(there))).toEqual(there);
    expect(shown(nextInstants(there, { from: noon, count: 1 }))).toEqual(['2027-06-02T02:30']);
  });

  test.each<[() => unknown, string]>([
    [() => cron('61 * * * *'), 'the pattern "61 * * * *" cannot be read: Invalid value for minute'],
    [() => cron('0 24 * * *'), 'Invalid value for hour: 24'],
    [() => cron('0 0 30 2 *'), 'never fires: no day fits, as with 30 February'],
    [() => cron('0 0 31 4,6,9 *'), 'never fires'],
    [() => cron('0 0 12 1 1 * 1960'), 'never fires'],
    [() => cron('* * * *'), 'has 4 of the fields: write five (minute, hour,'],
    [() => cron(''), 'the pattern "" is empty'],
    [() => cron('@reboot'), 'the name "@reboot" is unknown: the names are @yearly'],
    [() => cron('2027-06-01T08:00:00'), 'a single instant is `at`'],
    [() => cron('* '.repeat(200)), 'has 400 characters'],
    [() => cron(5 as unknown as string), 'the pattern must be a string, not 5'],
    [() => cron('0 8 * * *', { timeZone: 'Europe/Berln' }), 'did you mean "Europe/Berlin"?'],
    [() => cron('0 8 * * *', { timeZone: 'Mars' }), 'the time zone "Mars" is unknown (name one'],
    [() => cron('0 8 * * *', { timeZone: '' }), '`timeZone` must be a string that is not empty'],
    [
      () => cron('0 8 * * *', { timezone: 'UTC' } as object),
      'there is no option `timezone` (did you mean `timeZone`?)',
    ],
  ])('%s is refused', (declare, message) => {
    expect(declare).toThrow(
      expect.objectContaining({
        code: 'invalid_trigger',
        message: expect.stringMatching(/^cron\(\) cannot be set up: .*\.$/s),
      }),
    );
    expect(declare).toThrow(message);
  });
});

describe('every', () => {
  test('counts from its anchor, whatever was asked for', () => {
    const quarter = every('15m');
    expect(quarter).toEqual({ kind: 'every', everyMs: 15 * minute, jitterMs: 0 });
    const options = { from: noon, anchor: noon - 7 * minute, count: 2 };
    expect(nextInstants(quarter, options)).toEqual([noon + 8 * minute, noon + 23 * minute]);
    expect(nextInstants(quarter, { from: noon, count: 1 })).toEqual([noon + 15 * minute]);
  });

  test('understands lengths of time', () => {
    const lengths = [every('90s'), every('1.5h'), every('1d'), every('2500ms'), every(1_000)];
    expect(lengths.map(({ everyMs }) => everyMs)).toEqual([
      90_000, 5_400_000, 86_400_000, 2_500, 1_000,
    ]);
  });

  test('has a jitter that follows from the trigger and the instant', () => {
    const jittered = every('10m', { jitterMs: 60_000 });
    const delays = (triggerId: string) =>
      Array.from({ length: 50 }, (_, index) => {
        const after = noon + index * 10 * minute;
        const next = nextInstant(jittered, { after, anchor: noon, triggerId });
        return (next?.firesAt ?? 0) - (next?.instant ?? 0);
      });
    expect(delays('a')).toEqual(delays('a'));
    expect(delays('a')).not.toEqual(delays('b'));
    expect(Math.min(...delays('a'))).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays('a'))).toBeLessThanOrEqual(60_000);
    expect(new Set(delays('a')).size).toBeGreaterThan(40);
  });

  test.each<[() => unknown, string]>([
    [() => every('500ms'), 'the interval of 500 ms is too short: it must be at least a second'],
    [() => every(15), 'the interval of 15 ms is too short'],
    [() => every(0), 'too short'],
    [() => every(-60_000), 'too short'],
    [() => every('15 minutes' as '15m'), "a text such as '15m' (ms, s, m, h, d)"],
    [() => every(1_000.5), 'the interval must be milliseconds'],
    [() => every(Number.NaN), 'the interval must be milliseconds'],
    [() => every('9999d'), 'is too long: it must be at most ten years'],
    [() => every('15m', { jitterMs: 900_001 }), '`jitterMs` (900001) must be at most the interval'],
    [() => every('15m', { jitterMs: -1 }), '`jitterMs` must be a number from 0'],
    [() => every('15m', { jitter: 5 } as object), 'did you mean `jitterMs`?'],
  ])('%s is refused', (declare, message) => {
    expect(declare).toThrow(expect.objectContaining({ code: 'invalid_trigger' }));
    expect(declare).toThrow(message);
  });
});

describe('at', () => {
  test('is one instant', () => {
    const once = { kind: 'at', instant: noon };
    expect(at(noon)).toEqual(once);
    expect(at(new Date(noon))).toEqual(once);
    expect(at('2027-06-01T12:00Z')).toEqual(once);
    expect(at('2027-06-01T14:00:00.000+02:00')).toEqual(once);
    expect(at('2027-06-01T08:00:00 -0400')).toEqual(once);
    expect(nextInstants(at(noon), { from: noon - 1 })).toEqual([noon]);
    expect(nextInstants(at(noon), { from: noon })).toEqual([]);
  });

  test.each<[() => unknown, string]>([
    [() => at('tomorrow'), '"tomorrow" is no date with a time'],
    [() => at('2027-02-30T10:00Z'), '"2027-02-30T10:00Z" is no date with a time'],
    [() => at('2027-06-01T25:00Z'), 'is no date with a time'],
    [() => at('2027-06-01'), "write it as '2027-06-01T15:00+02:00'"],
    [() => at('2027-06-01T15:00'), 'names no zone: end it with Z or an offset such as +02:00'],
    [() => at('2027-06-01T15:00Z', { timeZone: 'UTC' }), 'would say it twice'],
    [() => at('2027-06-01T15:00', { timeZone: 'Berlin' }), 'did you mean "Europe/Berlin"?'],
    [() => at(noon, { timeZone: 'UTC' }), '`timeZone` is only for an instant as text'],
    [() => at(new Date(Number.NaN)), 'the instant is no date'],
    [() => at(-1), 'is not between the years 1970 and 9999'],
    [() => at(noon * 1_000), 'is not between the years 1970 and 9999'],
    [() => at('1969-12-31T00:00Z'), 'before the year 1970'],
    [() => at({} as Date), 'must be a Date, a text or epoch milliseconds, not an object'],
  ])('%s is refused', (declare, message) => {
    expect(declare).toThrow(expect.objectContaining({ code: 'invalid_trigger' }));
    expect(declare).toThrow(message);
  });
});

describe('nextInstant and nextInstants', () => {
  test('refuse what is no instant, and counts out of range', () => {
    const refused = (preview: () => unknown, message: string) => expect(preview).toThrow(message);
    refused(() => nextInstants(every('1h'), { from: Number.NaN }), '`from` must be epoch');
    refused(() => nextInstants(every('1h'), { from: noon, count: 0 }), '`count` must be 1 to 1000');
    refused(() => nextInstants(every('1h'), { from: noon, count: 1e9 }), '`count` must be 1 to');
    refused(
      () => nextInstant(every('1h'), { after: -1, anchor: 0, triggerId: 't' }),
      '`after` must be epoch milliseconds, not -1',
    );
  });

  test('refuse schedules that were made by hand and cannot be', () => {
    const preview = (pattern: string, timeZone: string) => () =>
      nextInstants({ kind: 'cron', pattern, timeZone }, { from: noon });
    expect(preview('*/0 * * * *', 'UTC')).toThrow('illegal stepping: 0');
    expect(preview('0 8 * * *', 'Europe/Atlantis')).toThrow('"Europe/Atlantis" is unknown');
    expect(preview('0 8 30 2 *', 'UTC')()).toEqual([]);
  });

  test('a preview has ten instants unless told otherwise, and ends with the calendar', () => {
    expect(nextInstants(cron('0 8 * * *'), { from: noon })).toHaveLength(10);
    expect(nextInstants(cron('0 0 12 1 1 * 2030'), { from: noon })).toHaveLength(1);
    const last = Date.parse('9999-12-31T22:30Z');
    expect(nextInstants(every('1h'), { from: last })).toHaveLength(1);
  });

  test('each instant leads to the next, wherever the question is asked between them', () => {
    const zone = fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata');
    const field = (high: number) =>
      fc.oneof(fc.constant('*'), fc.integer({ min: 0, max: high }).map(String));
    const pattern = fc
      .tuple(field(59), field(23), fc.constantFrom('*', '1', 'L'), fc.constantFrom('*', '3,11'))
      .map((fields) => [...fields, '*'].join(' '));
    const year = { min: Date.parse('2027-01-01T00:00Z'), max: Date.parse('2028-01-01T00:00Z') };
    fc.assert(
      fc.property(
        pattern,
        zone,
        fc.integer(year),
        fc.float({ min: 0, max: 1 }),
        (text, timeZone, from, share) => {
          const [first = 0, second = 0] = nextInstants(cron(text, { timeZone }), {
            from,
            count: 2,
          });
          expect(first).toBeGreaterThan(from);
          expect(second).toBeGreaterThan(first);
          const between =
            first + Math.floor((second - first) * (Number.isNaN(share) ? 0 : share) * 0.99);
          const again = nextInstants(cron(text, { timeZone }), { from: between, count: 1 });
          expect(again).toEqual([second]);
        },
      ),
    );
  });
});

describe('scheduleOf', () => {
  test('returns schedules that came as JSON', () => {
    for (const schedule of [
      cron('0 8 * * *', { timeZone: 'Europe/Berlin' }),
      every('1h', { jitterMs: 5 }),
      at(noon),
    ])
      expect(scheduleOf(JSON.parse(JSON.stringify(schedule)))).toEqual(schedule);
  });

  test.each<[unknown, string]>([
    [undefined, "must have the `kind` 'cron', 'every' or 'at', not undefined"],
    ['0 8 * * *', "must have the `kind` 'cron', 'every' or 'at'"],
    [{ kind: 'daily' }, 'not "daily"'],
    [{ kind: 'cron' }, 'the pattern must be a string, not undefined'],
    [{ kind: 'cron', pattern: '0 0 30 2 *', timeZone: 'UTC' }, 'never fires'],
    [{ kind: 'every', everyMs: 1 }, 'too short'],
    [{ kind: 'at', instant: null }, 'it must be a Date, a text or epoch milliseconds'],
    [{ kind: 'at', instant: noon, again: 1 }, 'there is no option `again`'],
  ])('refuses %j', (value, message) => {
    expect(() => scheduleOf(value)).toThrow(expect.objectContaining({ code: 'invalid_trigger' }));
    expect(() => scheduleOf(value)).toThrow(message);
  });
});
