import { dayMs, latestShown, offsetAt, stretches } from './zone.ts';

/** The last millisecond of the year 9999: later dates have no common form as text. */
export const latestInstant = 253_402_300_799_999;

const local = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)$/;
const zoned = /^(.+?) ?(Z|[+-]\d{2}:?\d{2})$/i;

/** Returns the epoch milliseconds of a date and time, or the fault as the end of a sentence. */
export function instantOfText(text: string, timeZone: string | undefined): number | string {
  const shown = JSON.stringify(text.slice(0, 60));
  const [, front = text, zone] = zoned.exec(text.trim()) ?? [];
  const [, date, time] = local.exec(front.trim()) ?? [];
  const utc = Date.parse(`${date}T${time}Z`);
  // The calendar of JavaScript makes 2 March of 30 February.
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 10) !== date)
    return `${shown} is no date with a time: write it as '2027-06-01T15:00+02:00'`;
  if (zone !== undefined && timeZone !== undefined)
    return `${shown} names its zone, so that \`timeZone\` would say it twice`;
  if (zone !== undefined) return inRange(utc - offsetOf(zone));
  return timeZone === undefined
    ? `${shown} names no zone: end it with Z or an offset such as +02:00, or give \`timeZone\``
    : inRange(firstShowing(utc, timeZone));
}

function inRange(instant: number): number | string {
  return instant < 0 ? 'the instant is before the year 1970' : instant;
}

/** Returns the milliseconds of an offset such as `+02:00`. */
function offsetOf(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  const size = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === '-' ? -size : size;
}

/** Returns the first instant at which a zone's clock shows a local time or a later one. */
function firstShowing(localTime: number, timeZone: string): number {
  const start = localTime - offsetAt(timeZone, localTime) - 2 * dayMs;
  let shown = latestShown(timeZone, start);
  for (const { from, until, offset } of stretches(timeZone, start + 1, start + 4 * dayMs)) {
    if (localTime > shown && localTime <= from + offset) return from;
    if (localTime > shown && localTime <= until + offset) return localTime - offset;
    shown = Math.max(shown, until + offset);
  }
  return localTime - offsetAt(timeZone, localTime);
}
