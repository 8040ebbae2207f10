import { nearestName } from '../../base/nearest-name.ts';
import { InvalidTriggerError } from '../errors.ts';

export const dayMs = 86_400_000;

/** Offsets of a zone on a day of UTC. */
interface ZoneDay {
  /** Offset at the beginning. */
  readonly offset: number;
  /** First instant with another offset, which lasts to the end of the day. */
  readonly change?: { readonly at: number; readonly offset: number } | undefined;
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** Days that were asked for: `Intl` is slow, and a trigger asks for the same days again. */
  readonly days: Map<number, ZoneDay>;
}

/** Zones that were asked for. They are held by their names in small letters, so each once. */
const zones = new Map<string, Zone>();
const mostDays = 4_000;

/** @throws InvalidTriggerError for an unknown zone, as of a schedule that another machine made */
function zoneOf(timeZone: string): Zone {
  const key = timeZone.toLowerCase();
  let zone = zones.get(key);
  if (zone === undefined) {
    zone = { format: formatOf(timeZone), days: new Map() };
    zones.set(key, zone);
  }
  return zone;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const fault = zoneFault(timeZone);
  if (fault !== undefined) throw new InvalidTriggerError({ function: 'cron', reason: fault });
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    era: 'short',
  });
}

/** Returns the fault of a zone as the end of a sentence; `undefined` for one that exists. */
export function zoneFault(timeZone: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone });
    return undefined;
  } catch {
    const names = Intl.supportedValuesOf('timeZone');
    const city = `/${timeZone.toLowerCase().replaceAll(' ', '_')}`;
    const nearest =
      names.find((name) => name.toLowerCase().endsWith(city)) ?? nearestName(timeZone, names);
    const advice =
      nearest === undefined
        ? "name one of the IANA database, such as 'Europe/Berlin'"
        : `did you mean ${JSON.stringify(nearest)}?`;
    return `the time zone ${JSON.stringify(timeZone.slice(0, 60))} is unknown (${advice})`;
  }
}

/**
 * Returns the difference of a zone's local time to UTC at an instant, in milliseconds. A local time
 * is held as the epoch milliseconds at which UTC shows the same date and time.
 */
export function offsetAt(timeZone: string, instant: number): number {
  const { offset, change } = dayOf(zoneOf(timeZone), Math.floor(instant / dayMs));
  return change === undefined || instant < change.at ? offset : change.offset;
}

function dayOf(zone: Zone, number: number): ZoneDay {
  let day = zone.days.get(number);
  if (day === undefined) {
    if (zone.days.size >= mostDays) zone.days.clear();
    day = readDay(zone.format, number * dayMs);
    zone.days.set(number, day);
  }
  return day;
}

/** Reads the offsets of a day. No zone changes twice on one. */
function readDay(format: Intl.DateTimeFormat, start: number): ZoneDay {
  const last = start + dayMs - 1;
  const [offset, after] = [readOffset(format, start), readOffset(format, last)];
  if (offset === after) return { offset };
  let [low, high] = [start, last];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (readOffset(format, middle) === after) high = middle;
    else low = middle;
  }
  return { offset, change: { at: high, offset: after } };
}

function readOffset(format: Intl.DateTimeFormat, instant: number): number {
  const second = Math.floor(instant / 1000) * 1000;
  const fields: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of format.formatToParts(second)) fields[type] = value;
  const number = (type: Intl.DateTimeFormatPartTypes): number => Number(fields[type]);
  // Before the year 1 `Intl` counts backwards from 1 BC, and the calendar has a year 0.
  const year = fields.era === 'BC' ? 1 - number('year') : number('year');
  const date = new Date(0);
  date.setUTCFullYear(year, number('month') - 1, number('day'));
  date.setUTCHours(number('hour'), number('minute'), number('second'));
  return date.getTime() - second;
}

/** A stretch of time in which a zone keeps its offset. */
export interface ZoneStretch {
  /** First instant. */
  readonly from: number;
  /** Last instant. */
  readonly until: number;
  readonly offset: number;
}

/** Returns the stretches of [`from`, `until`] in their order. */
export function* stretches(timeZone: string, from: number, until: number): Generator<ZoneStretch> {
  const zone = zoneOf(timeZone);
  let start = from;
  let offset = offsetAt(timeZone, from);
  for (let number = Math.floor(from / dayMs); number * dayMs <= until; number++) {
    const { offset: early, change } = dayOf(zone, number);
    // A zone may change at the beginning of a day of UTC too, or within it.
    const changes = [{ at: number * dayMs, offset: early }, change];
    for (const next of changes) {
      if (next === undefined || next.at <= start || next.at > until || next.offset === offset)
        continue;
      yield { from: start, until: next.at - 1, offset };
      [start, offset] = [next.at, next.offset];
    }
  }
  yield { from: start, until, offset };
}

/**
 * Returns the latest local time that a zone has shown until an instant. In an hour that comes twice
 * it is the end of that hour, not the time of the clock.
 */
export function latestShown(timeZone: string, instant: number): number {
  let latest = Number.NEGATIVE_INFINITY;
  for (const { until, offset } of stretches(timeZone, instant - dayMs, instant))
    latest = Math.max(latest, until + offset);
  return latest;
}
