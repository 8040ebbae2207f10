import type { TriggerInfo } from 'adjutant/triggers';
import { formatTime } from '../format.ts';
import { plainLine } from '../plain-text.ts';

const units: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** Returns what a trigger fires on, on one line: `0 8 * * 1-5 (Europe/Berlin)`, `every 15m`. */
export function firesOn({ on }: Pick<TriggerInfo, 'on'>): string {
  const { everyMs, instant, kind, pattern, timeZone } = on;
  switch (kind) {
    case 'cron':
      return plainLine(`${pattern} (${timeZone})`);
    case 'every':
      return `every ${distance(Number(everyMs))}`;
    case 'at':
      return `once at ${formatTime(Number(instant))}`;
    case 'event':
      return plainLine(`event ${pattern}`);
    case 'condition':
      return `condition, each ${distance(Number(everyMs))}`;
    default:
      return plainLine(String(kind));
  }
}

/** Zone of this machine. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns an instant in a zone with its day and offset: `Mon 2027-03-15 08:30:00 -04:00`. */
export function instantIn(timeZone: string, instant: number): string {
  const { day, date, time, offset } = partsIn(timeZone, instant);
  return `${day} ${date} ${time} ${offset}`;
}

/** Returns an instant in a zone by ISO 8601: `2027-03-15T08:30:00-04:00`. */
export function isoIn(timeZone: string, instant: number): string {
  const { date, time, offset } = partsIn(timeZone, instant);
  return `${date}T${time}${offset}`;
}

function partsIn(timeZone: string, instant: number): Record<string, string> {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset' },
  });
  const found: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(instant)) found[type] = value;
  const { day, hour, minute, month, second, timeZoneName = '', weekday = '', year } = found;
  return {
    day: weekday,
    date: `${year}-${month}-${day}`,
    time: `${hour}:${minute}:${second}`,
    offset: timeZoneName === 'GMT' ? '+00:00' : timeZoneName.replace('GMT', ''),
  };
}

function distance(ms: number): string {
  const [unit, unitMs] = units.find(([, each]) => ms % each === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}
