import { checkOptions } from '../../../base/invalid-option.ts';
import { isNumber, isOneOf, type OptionCheck } from '../../../base/options.ts';
import { isTimeZone, zonedTime } from '../../../context/zoned-time.ts';
import type { TaskInfo } from '../../task-info.ts';
import { durationInWords, errorInWords, nameInWords, numberInWords } from './phrases.ts';

/** The way in which the end of a task is told. */
export interface CompletionWording {
  /** Instant at which it is said, in epoch milliseconds. */
  readonly now: number;
  /** `spoken`: as it is said in the middle of a conversation. */
  readonly format: 'spoken' | 'text';
  /** Instant of the next attempt, in epoch milliseconds. @default there is none */
  readonly retryAt?: number;
  /** IANA time zone of the listener, for "tonight". @default the next attempt is in some hours */
  readonly timeZone?: string;
}

const isZone: OptionCheck = (value) =>
  typeof value === 'string' && isTimeZone(value)
    ? undefined
    : 'an IANA time zone, such as "Europe/Berlin"';

/**
 * Tells that a task has ended: "By the way, I finished …", or "I tried three different ways but …
 * I'll try again tonight."
 * @throws InvalidOptionError
 */
export function completedInWords(task: TaskInfo, wording: CompletionWording): string {
  // `null` stands for a missing option, because the check ignores `undefined`.
  const given = { ...wording, now: wording?.now ?? null, format: wording?.format ?? null };
  checkOptions('completedInWords', given, {
    now: isNumber,
    format: isOneOf('spoken', 'text'),
    retryAt: isNumber,
    timeZone: isZone,
  });
  const name = nameInWords(task);
  switch (task.state) {
    case 'completed':
      return wording.format === 'spoken'
        ? `By the way, I finished ${name}.`
        : `I finished ${name}.${timeTaken(task)}`;
    case 'failed':
      return `${triesInWords(task)} but couldn't finish ${name}${reason(task)}. ${next(wording)}`;
    case 'timeout':
      return `I ran out of time for ${name}. ${next(wording)}`;
    case 'cancelled':
      return `${name} was cancelled.`;
    default:
      return `${name} is not done yet.`;
  }
}

function timeTaken({ startedAt, completedAt }: TaskInfo): string {
  if (startedAt === undefined || completedAt === undefined) return '';
  return ` It took ${durationInWords(completedAt - startedAt)}.`;
}

function triesInWords({ attempts }: TaskInfo): string {
  return attempts > 1 ? `I tried ${numberInWords(attempts)} different ways` : 'I tried';
}

function reason(task: TaskInfo): string {
  const error = errorInWords(task);
  return error === undefined ? '' : `: ${error}`;
}

function next({ now, retryAt, timeZone }: CompletionWording): string {
  if (retryAt === undefined) return "I won't try again by myself.";
  return `I'll try again ${whenInWords(retryAt, now, timeZone)}.`;
}

const hourMs = 3_600_000;
const latestDate = 8_640_000_000_000_000 - 24 * hourMs;

function isDate(at: number): boolean {
  return Math.abs(at) <= latestDate;
}

/** Parts of a day with the hour before which each ends. */
const partsOfDay = [
  { until: 5, today: 'tonight', tomorrow: 'tonight' },
  { until: 12, today: 'this morning', tomorrow: 'tomorrow morning' },
  { until: 18, today: 'this afternoon', tomorrow: 'tomorrow afternoon' },
  { until: 24, today: 'tonight', tomorrow: 'tomorrow evening' },
] as const;

/** Names the part of the day; an attempt that is soon or days away is told by its distance. */
function whenInWords(at: number, now: number, timeZone: string | undefined): string {
  const distance = `in ${durationInWords(at - now)}`;
  const isNearOrFar = at - now < 2 * hourMs || at - now > 48 * hourMs;
  if (timeZone === undefined || isNearOrFar || !isDate(at) || !isDate(now)) return distance;
  const then = zonedTime(at, timeZone).text;
  const hour = Number(/ (\d\d):/.exec(then)?.[1]);
  const part = partsOfDay.find(({ until }) => hour < until);
  const date = (instant: number) => zonedTime(instant, timeZone).text.split(' ')[1];
  if (part === undefined) return distance;
  if (date(at) === date(now)) return part.today;
  return date(at) === date(now + 24 * hourMs) ? part.tomorrow : distance;
}
