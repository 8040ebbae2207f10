import { type Clock, systemClock } from '../../base/clock.ts';
import { ToolFailure } from '../errors.ts';
import { type Tool, type ToolContext, tool } from '../tool.ts';

export interface CurrentTimeOptions {
  /** @default the system's clock */
  readonly clock?: Pick<Clock, 'now'>;
  /** IANA name of the time zone when the model asks for none. @default the system's */
  readonly timeZone?: string;
}

export interface CurrentTime {
  /** ISO 8601 with the offset of the time zone. */
  readonly iso: string;
  readonly timeZone: string;
  /** For people, in English, with the day of the week. */
  readonly text: string;
}

const description = `Tells the current date, time and day of the week. \
Use it whenever an answer depends on what day or time it is.
Takes an IANA time zone, such as "Europe/Berlin" or "UTC"; without one the local zone counts.`;

/** A tool that tells the time. */
export function currentTime(options: CurrentTimeOptions = {}): Tool {
  const {
    clock = systemClock,
    timeZone: ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone,
  } = options;
  return tool({
    name: 'currentTime',
    description,
    schema: {
      type: 'object',
      properties: {
        timeZone: { type: 'string', description: 'IANA time zone, such as "Europe/Berlin"' },
      },
      additionalProperties: false,
    },
    readOnly: true,
    execute: (ctx: ToolContext<{ timeZone?: string }>): CurrentTime =>
      timeIn(ctx.args.timeZone ?? ownZone, clock.now()),
  });
}

function timeIn(timeZone: string, now: number): CurrentTime {
  const date = new Date(now);
  const zone = resolvedZone(timeZone);
  const text = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    dateStyle: 'full',
    timeStyle: 'long',
  }).format(date);
  return { iso: isoIn(zone, date), timeZone: zone, text };
}

function resolvedZone(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch (cause) {
    throw new ToolFailure(`"${timeZone.slice(0, 60)}" is not a time zone.`, {
      errorType: 'invalid_time_zone',
      alternatives: [
        'Use an IANA name such as "Europe/Berlin", "America/New_York", "Asia/Tokyo" or "UTC".',
        'Leave it out for the local time.',
      ],
      cause,
    });
  }
}

function isoIn(timeZone: string, date: Date): string {
  const offset = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(date)
    .find(({ type }) => type === 'timeZoneName')?.value;
  const [, sign = '+', hours = '00', minutes = '00'] =
    /GMT([+-])(\d\d):?(\d\d)?/.exec(offset ?? '') ?? [];
  const shiftMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const local = new Date(date.getTime() + shiftMs).toISOString().slice(0, 19);
  return `${local}${shiftMs === 0 ? 'Z' : `${sign}${hours}:${minutes}`}`;
}
