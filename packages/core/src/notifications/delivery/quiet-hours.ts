import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import type { OptionCheck } from '../../base/options.ts';

/** Hours of each day in which only what is urgent is sent. */
export interface QuietHours {
  /** First minute, such as '22:00'. */
  readonly from: string;
  /** End, such as '07:00'; before `from` it is on the next day. */
  readonly to: string;
  /** Name of the IANA time zone, such as 'Europe/Berlin'. */
  readonly timeZone: string;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Changes of the clock that are looked at; a zone has no two of them in two days. */
const mostChanges = 4;

/**
 * True when the wall clock of the zone stands within the quiet hours.
 * @throws InvalidOptionError
 */
export function isQuiet(quietHours: QuietHours, at: number): boolean {
  const hours = readQuietHours(quietHours);
  return isWithin(hours, timeOfDay(at, hours.offsetAt(at)));
}

/**
 * Returns the first instant from `now` on at which the wall clock of the zone stands outside the
 * quiet hours: `now` itself when it does. Hours that a change of the clock skips or repeats are
 * those that the clock shows.
 * @throws InvalidOptionError
 */
export function sendingAllowedAt(quietHours: QuietHours, now: number): number {
  const hours = readQuietHours(quietHours);
  let at = now;
  for (let changes = 0; changes < mostChanges; changes++) {
    const offset = hours.offsetAt(at);
    const time = timeOfDay(at, offset);
    if (!isWithin(hours, time)) return at;
    const end = at + modulo(hours.to - time, dayMs);
    if (hours.offsetAt(end) === offset) return end;
    at = changeBetween(hours, at, end);
  }
  return at;
}

interface Hours {
  /** Milliseconds of the day. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds that the zone is ahead of UTC. */
  readonly offsetAt: (at: number) => number;
}

const isTime: OptionCheck = (value) =>
  typeof value === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(value)
    ? undefined
    : "a time such as '22:00'";

const isTimeZone: OptionCheck = (value) => {
  try {
    if (typeof value === 'string') return void new Intl.DateTimeFormat('en', { timeZone: value });
  } catch {
    // `Intl` knows no such zone.
  }
  return "a time zone such as 'Europe/Berlin'";
};

/** @throws InvalidOptionError */
function readQuietHours(quietHours: QuietHours): Hours {
  // `null` stands for a missing option, because the check ignores `undefined`.
  const { from, to, timeZone } = quietHours ?? {};
  const given = { ...quietHours, from: from ?? null, to: to ?? null, timeZone: timeZone ?? null };
  checkOptions('quietHours', given, { from: isTime, to: isTime, timeZone: isTimeZone });
  if (from === to)
    throw new InvalidOptionError({
      function: 'quietHours',
      reason: `\`from\` and \`to\` are both ${from}: leave quiet hours out if there are none`,
    });
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return {
    from: millisecondsOf(from),
    to: millisecondsOf(to),
    offsetAt: (at) => offsetBy(format, at),
  };
}

function millisecondsOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number) as [number, number];
  return (hours * 60 + minutes) * minuteMs;
}

function offsetBy(format: Intl.DateTimeFormat, at: number): number {
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const shown = Date.UTC(
    ...[part('year'), part('month') - 1, part('day')],
    ...[part('hour'), part('minute'), part('second')],
  );
  return shown - (at - modulo(at, 1_000));
}

function timeOfDay(at: number, offset: number): number {
  return modulo(at + offset, dayMs);
}

function isWithin({ from, to }: Hours, time: number): boolean {
  return from < to ? from <= time && time < to : from <= time || time < to;
}

/** Returns the instant of the change of the clock between two instants, to the millisecond. */
function changeBetween({ offsetAt }: Hours, start: number, end: number): number {
  const before = offsetAt(start);
  let [low, high] = [start, end];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

function modulo(value: number, base: number): number {
  return ((value % base) + base) % base;
}
