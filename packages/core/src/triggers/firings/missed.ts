import type { InstantSource } from '../schedules/instant-source.ts';
import type { TriggerInstant } from '../schedules/next-instant.ts';
import { type DueInstants, mostAtOnce } from './due-instants.ts';
import { type FiringDecision, leftOut } from './firing-decision.ts';
import type { FiringPolicy } from './policy.ts';

/** A firing that is to be started. */
export interface DueFiring extends TriggerInstant {
  /** True when it is later than the tolerance allows. */
  readonly missed: boolean;
  /** Due instants that it stands for, itself included. */
  readonly standsFor: number;
}

/** Firings, and decisions about those that are left out. */
export interface ChosenFirings {
  readonly firings: readonly DueFiring[];
  readonly decisions: readonly FiringDecision[];
}

const longestTolerance = 60_000;

/** Applies the policy for missed firings to due instants. */
export function chooseFirings(
  source: InstantSource,
  policy: FiringPolicy,
  { considered, now }: { readonly considered: number; readonly now: number },
  { count, newest }: DueInstants,
): ChosenFirings {
  const firings = newest.map((one) => ({
    ...one,
    missed: now - one.firesAt > toleranceOf(source, policy, one.instant),
    standsFor: 1,
  }));
  const last = firings.at(-1);
  const inTime = firings.filter(({ missed }) => !missed);
  if (last === undefined || inTime.length === count) return { firings, decisions: [] };
  if (policy.missed === 'once') {
    const first = source.next(considered) ?? last.instant;
    return joined({ ...last, standsFor: count }, first);
  }
  const kept = policy.missed === 'skip' ? inTime : firings;
  if (kept.length === count) return { firings: kept, decisions: [] };
  const before = kept[0] === undefined ? last.instant : kept[0].instant - 1;
  return { firings: kept, decisions: [older(source, policy, considered, before)] };
}

/** Returns the one firing that stands for all due instants. */
function joined(firing: DueFiring, first: number): ChosenFirings {
  const { instant, standsFor: count } = firing;
  if (count === 1) return { firings: [firing], decisions: [] };
  const range = { count, first, last: instant };
  const why = 'they could not fire in time, and one firing stands for them';
  return { firings: [firing], decisions: [leftOut('missed_joined', 'Joined', range, why)] };
}

/** Returns the decision about the instants in (`considered`, `before`], which do not fire. */
function older(
  source: InstantSource,
  policy: FiringPolicy,
  considered: number,
  before: number,
): FiringDecision {
  const first = source.next(considered) ?? before;
  const [last = before] = source.newest(1, considered, before);
  const range = { count: source.count(considered, before), first, last };
  return policy.missed === 'skip'
    ? leftOut('missed_skipped', 'Skipped', range, 'this could not fire in time')
    : leftOut('missed_dropped', 'Dropped', range, `at most ${mostAtOnce} fire after an outage`);
}

/** Returns the milliseconds after which the firing of an instant is missed. */
function toleranceOf(source: InstantSource, policy: FiringPolicy, instant: number): number {
  if (policy.toleranceMs !== undefined) return policy.toleranceMs;
  const next = source.next(instant);
  return next === undefined ? longestTolerance : Math.min(longestTolerance, next - instant);
}
