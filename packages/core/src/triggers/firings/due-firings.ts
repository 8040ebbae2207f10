import type { InstantSource } from '../schedules/instant-source.ts';
import { instantsOf } from '../schedules/instants.ts';
import { checkInstants, nextInstant } from '../schedules/next-instant.ts';
import type { Schedule } from '../schedules/schedule.ts';
import { dayMs } from '../schedules/zone.ts';
import { dueInstants } from './due-instants.ts';
import { beganAgain, type FiringDecision, leftOut } from './firing-decision.ts';
import { hourlyAllowance } from './hourly-limit.ts';
import { type ChosenFirings, chooseFirings, type DueFiring } from './missed.ts';
import type { FiringPolicy } from './policy.ts';

/** State of a trigger when it is woken. Instants are epoch milliseconds. */
export interface FiringQuestion {
  /**
   * The last instant that was considered. Before the first, and after an edit, it is the instant of
   * the creation or the edit: nothing before it is considered.
   */
  readonly considered: number;
  /** Instant that an interval is counted from: the beginning of the trigger's revision. */
  readonly anchor: number;
  /** Identity of the trigger, from which the jitter of each instant follows. */
  readonly triggerId: string;
  /** Now, by the clock of the store. */
  readonly now: number;
  /** When the firings of the last hour were; older ones do not count. Default none. */
  readonly firedAt?: readonly number[] | undefined;
}

/** Answer for a trigger that was woken. */
export interface DueFirings {
  /**
   * Firings in the order in which they are started. After each one its instant is the last that was
   * considered, so that a process that ends between two of them loses and repeats none.
   */
  readonly firings: readonly DueFiring[];
  /** Instants that do not fire, with reasons. They belong to the first firing's append. */
  readonly decisions: readonly FiringDecision[];
  /** The last considered instant after all of this. */
  readonly considered: number;
  /** When to wake the trigger next; `undefined` when there is no further instant. */
  readonly wakeAt: number | undefined;
}

/**
 * Decides which firings are due. The schedule and the last considered instant decide alone; a wake
 * only asks. One that comes too early, twice, or in another process changes nothing.
 * @throws InvalidTriggerError for a `now`, `considered` or `anchor` that is no instant
 */
export function dueFirings(
  schedule: Schedule,
  policy: FiringPolicy,
  question: FiringQuestion,
): DueFirings {
  const { considered, anchor, triggerId } = question;
  const now = Math.floor(question.now);
  checkInstants('dueFirings', { considered, anchor, now });
  const source = instantsOf(schedule, anchor);
  const wakeAfter = (after: number) => nextInstant(schedule, { after, anchor, triggerId })?.firesAt;
  if (isFarAhead(source, considered, now)) {
    const decisions = [beganAgain(considered, now)];
    return { firings: [], decisions, considered: now, wakeAt: wakeAfter(now) };
  }
  const asked = { ...question, now };
  const due = dueInstants(schedule, source, asked);
  const last = due.newest.at(-1)?.instant ?? considered;
  const chosen = chooseFirings(source, policy, asked, due);
  const allowed = withinHour(policy, asked, chosen.firings);
  const wakeAt = wakeAfter(last);
  return {
    firings: allowed.firings,
    decisions: [...chosen.decisions, ...allowed.decisions],
    considered: last,
    wakeAt: wakeAt === undefined ? undefined : Math.max(wakeAt, allowed.freeAt ?? wakeAt),
  };
}

/** True when the considered instant lies so far ahead that only a wrong clock explains it. */
function isFarAhead(source: InstantSource, considered: number, now: number): boolean {
  if (considered <= now + dayMs) return false;
  const period = (source.next(considered) ?? considered) - considered;
  return considered > now + period + dayMs;
}

/** Applies the most firings of an hour. The newest are kept. */
function withinHour(
  { mostPerHour }: FiringPolicy,
  { firedAt = [], now }: FiringQuestion,
  firings: readonly DueFiring[],
): ChosenFirings & { readonly freeAt: number | undefined } {
  const { left } = hourlyAllowance({ firedAt, now, mostPerHour });
  const dropped = firings.slice(0, Math.max(0, firings.length - left));
  const kept = firings.slice(dropped.length);
  const firedNow = kept.map(() => now);
  const { freeAt } = hourlyAllowance({ firedAt: [...firedAt, ...firedNow], now, mostPerHour });
  const [first] = dropped;
  if (first === undefined) return { firings: kept, decisions: [], freeAt };
  const range = {
    count: dropped.reduce((sum, { standsFor }) => sum + standsFor, 0),
    first: first.instant,
    last: dropped.at(-1)?.instant ?? first.instant,
  };
  const why = `the trigger has fired ${mostPerHour} times within an hour`;
  return { firings: kept, decisions: [leftOut('hourly_limit', 'Dropped', range, why)], freeAt };
}
