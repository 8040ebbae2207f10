import { sha256 } from '../../base/hash.ts';
import { describeValue } from '../../base/options.ts';
import { InvalidTriggerError } from '../errors.ts';
import { instantsOf } from './instants.ts';
import type { Schedule } from './schedule.ts';
import { latestInstant } from './text-instant.ts';

/** Place of a question about instants, in epoch milliseconds. */
export interface InstantQuestion {
  /** The instant sought comes after this one. */
  readonly after: number;
  /** Instant that an interval is counted from: the beginning of the trigger's revision. */
  readonly anchor: number;
  /** Identity of the trigger, from which the jitter of each instant follows. */
  readonly triggerId: string;
}

/** An instant of a trigger, in epoch milliseconds. */
export interface TriggerInstant {
  /** The instant by the schedule: the key of the firing. */
  readonly instant: number;
  /** The instant and its jitter: the firing is due from then on. */
  readonly firesAt: number;
}

/**
 * Returns the first instant of a schedule after another, with the zone data of this process;
 * `undefined` when there is none.
 * @throws InvalidTriggerError for an `after` or `anchor` that is no instant
 */
export function nextInstant(
  schedule: Schedule,
  { after, anchor, triggerId }: InstantQuestion,
): TriggerInstant | undefined {
  checkInstants('nextInstant', { after, anchor });
  const instant = instantsOf(schedule, anchor).next(after);
  if (instant === undefined || instant > latestInstant) return undefined;
  return { instant, firesAt: instant + jitterOf(schedule, triggerId, instant) };
}

/** Range of a preview. */
export interface PreviewOptions {
  /** Epoch milliseconds. The instants come after it; an interval is counted from it. */
  readonly from: number;
  /** Number of instants. Default 10, at most 1,000. */
  readonly count?: number | undefined;
  /** Instant that an interval is counted from. Default `from`. */
  readonly anchor?: number | undefined;
}

/**
 * Returns the next instants of a schedule in epoch milliseconds, without jitter; fewer when there
 * are no more.
 * @throws InvalidTriggerError for a `from` that is no instant, or a `count` out of range
 */
export function nextInstants(schedule: Schedule, options: PreviewOptions): readonly number[] {
  const { from, count = 10, anchor = from } = options;
  checkInstants('nextInstants', { from, anchor });
  if (!Number.isInteger(count) || count < 1 || count > 1_000)
    throw refusal('nextInstants', `\`count\` must be 1 to 1000, not ${describeValue(count)}`);
  const source = instantsOf(schedule, anchor);
  const found: number[] = [];
  let instant = source.next(from);
  while (instant !== undefined && instant <= latestInstant && found.length < count) {
    found.push(instant);
    instant = source.next(instant);
  }
  return found;
}

/** Returns the delay of an instant: always the same one for a trigger. */
export function jitterOf(schedule: Schedule, triggerId: string, instant: number): number {
  if (schedule.kind !== 'every' || schedule.jitterMs === 0) return 0;
  // 48 bits of a hash, as a share of 1.
  const share = Number.parseInt(sha256(`${triggerId}\n${instant}`).slice(0, 12), 16) / 2 ** 48;
  return Math.floor(share * (schedule.jitterMs + 1));
}

/** @throws InvalidTriggerError for what is no epoch milliseconds between 1970 and 9999 */
export function checkInstants(name: string, instants: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(instants))
    if (!Number.isFinite(value) || (value as number) < 0 || (value as number) > latestInstant)
      throw refusal(name, `\`${key}\` must be epoch milliseconds, not ${describeValue(value)}`);
}

function refusal(name: string, reason: string): InvalidTriggerError {
  return new InvalidTriggerError({ function: name, reason });
}
