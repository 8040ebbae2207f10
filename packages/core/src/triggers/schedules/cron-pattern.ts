import { InvalidTriggerError } from '../errors.ts';
import { type CalendarDays, calendarDays, readingFault } from './calendar-days.ts';
import { dayMs } from './zone.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** A cron pattern, read: times of the day as lists, and the days on which they count. */
interface CronPattern {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: CalendarDays;
}

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Patterns that were read, since each instant asks for its pattern. */
const read = new Map<string, CronPattern>();
const mostRead = 500;

/** @throws InvalidTriggerError for a pattern that cannot be read, as of a schedule made by hand */
function patternOf(text: string): CronPattern {
  let pattern = read.get(text);
  if (pattern === undefined) {
    if (read.size >= mostRead) read.clear();
    pattern = readPattern(text);
    read.set(text, pattern);
  }
  return pattern;
}

function readPattern(text: string): CronPattern {
  const fault = textFault(text);
  if (fault !== undefined) throw new InvalidTriggerError({ function: 'cron', reason: fault });
  const fields = fieldsOf(text);
  const [second, minute, hour] = fields.length === 5 ? ['0', ...fields] : fields;
  const ofDays = fields.length === 5 ? fields.slice(2) : fields.slice(3);
  return {
    seconds: valuesOf(second as string, 59),
    minutes: valuesOf(minute as string, 59),
    hours: valuesOf(hour as string, 23),
    days: calendarDays(['0 0 0', ...ofDays].join(' ')),
  };
}

function fieldsOf(text: string): readonly string[] {
  const pattern = nicknames[text.trim().toLowerCase()] ?? text;
  return pattern.trim().split(/\s+/);
}

/** Returns the values of a field that `croner` has accepted, ascending. */
function valuesOf(field: string, last: number): readonly number[] {
  const values = new Set<number>();
  for (const part of field.replaceAll('?', '*').split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [low = '', high = low] = range === '*' ? ['0', String(last)] : range.split('-');
    for (let value = Number(low); value <= Number(high); value += Number(step)) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
}

/** Returns the fault of a pattern as the end of a sentence; `undefined` for one that can fire. */
export function cronFault(text: string): string | undefined {
  const fault = textFault(text);
  if (fault !== undefined) return fault;
  return patternOf(text).days.from(0) === undefined
    ? `the pattern ${JSON.stringify(text)} never fires: no day fits, as with 30 February`
    : undefined;
}

function textFault(text: string): string | undefined {
  if (text.length > 200) return `the pattern has ${text.length} characters, and at most 200 can be`;
  const shown = JSON.stringify(text);
  const fields = fieldsOf(text);
  if (fields.length < 5 || fields.length > 7) return fieldsFault(shown, fields);
  const fault = readingFault(fields.join(' '));
  return fault === undefined ? undefined : `the pattern ${shown} cannot be read: ${fault}`;
}

function fieldsFault(shown: string, fields: readonly string[]): string {
  const [first = ''] = fields;
  const found = first === '' ? 'is empty' : `has ${fields.length} of the fields`;
  return first.startsWith('@')
    ? `the name ${shown} is unknown: the names are ${Object.keys(nicknames).join(', ')}`
    : `the pattern ${shown} ${found}: write five (minute, hour, day of the month, month, day of ` +
        "the week), such as '0 8 * * 1-5', or six with seconds in front; a single instant is `at`";
}

/** True for a pattern that fits in every hour of its days. */
export function isHourly(text: string): boolean {
  return patternOf(text).hours.length === 24;
}

/** Returns the local times of a pattern in (`after`, `until`], ascending. */
export function* localTimes(text: string, after: number, until: number): Generator<number> {
  const pattern = patternOf(text);
  for (const day of daysBetween(pattern, after, until))
    for (const time of timesOfDay(pattern, after - day)) {
      if (day + time > until) return;
      yield day + time;
    }
}

/** Returns how many local times of a pattern are in (`after`, `until`]. */
export function countLocalTimes(text: string, after: number, until: number): number {
  const pattern = patternOf(text);
  let count = 0;
  for (const day of daysBetween(pattern, after, until))
    count += countUntil(pattern, until - day) - countUntil(pattern, after - day);
  return count;
}

/** Returns the days that fit, from the day of `after` to that of `until`. */
function* daysBetween({ days }: CronPattern, after: number, until: number): Generator<number> {
  if (until <= after) return;
  let day = days.from(Math.floor(after / dayMs));
  while (day !== undefined && day <= until) {
    yield day;
    day = days.from(day / dayMs + 1);
  }
}

/** Returns the times of a day after one, in milliseconds since midnight. */
function* timesOfDay(pattern: CronPattern, after: number): Generator<number> {
  for (const hour of pattern.hours) {
    if ((hour + 1) * hourMs <= after) continue;
    for (const minute of pattern.minutes) {
      const start = hour * hourMs + minute * minuteMs;
      if (start + minuteMs <= after) continue;
      for (const second of pattern.seconds)
        if (start + second * 1000 > after) yield start + second * 1000;
    }
  }
}

/** Returns how many times of a day are not after a time since midnight. */
function countUntil({ hours, minutes, seconds }: CronPattern, time: number): number {
  if (time < 0) return 0;
  if (time >= dayMs) return hours.length * minutes.length * seconds.length;
  const [hour, minute, second] = [
    Math.floor(time / hourMs),
    Math.floor((time % hourMs) / minuteMs),
    Math.floor((time % minuteMs) / 1000),
  ];
  const below = (values: readonly number[], limit: number): number =>
    values.filter((value) => value < limit).length;
  const ofMinute = minutes.includes(minute) ? below(seconds, second + 1) : 0;
  const ofHour = hours.includes(hour) ? below(minutes, minute) * seconds.length + ofMinute : 0;
  return below(hours, hour) * minutes.length * seconds.length + ofHour;
}
