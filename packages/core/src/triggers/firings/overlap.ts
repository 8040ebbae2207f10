/**
 * Fate of a firing while the work of an earlier one goes on.
 * - `skip`: it does not start.
 * - `queue`: it waits for its turn; at most 10 wait, and more join the last of them.
 * - `coalesce`: one waits, and more join it.
 * - `cancel_previous`: the earlier work is cancelled, and the new firing starts after its end.
 */
export type OverlapPolicy = 'skip' | 'queue' | 'coalesce' | 'cancel_previous';

/** Work of an earlier firing that has not ended. */
export interface OpenFiring {
  /** The instant of its firing, in epoch milliseconds. */
  readonly instant: number;
  /** True when it waits for a person. */
  readonly waitsForPerson?: boolean | undefined;
  /** True when it has been told to end. */
  readonly cancelled?: boolean | undefined;
}

/** State of a trigger when it fires. */
export interface OverlapQuestion {
  /** Work of the last firing, if its end has not come. */
  readonly open: OpenFiring | undefined;
  /** Firings that wait. */
  readonly queued: number;
}

/**
 * Next step of a firing.
 * - `start`: its work starts now.
 * - `skip`: it does not start.
 * - `queue`: it waits behind the open and the queued ones.
 * - `coalesce`: it joins the last one that waits.
 * - `cancel_first`: the open work is cancelled, and the firing waits for its end.
 */
export type OverlapAction = 'start' | 'skip' | 'queue' | 'coalesce' | 'cancel_first';

/**
 * Reason of an `OverlapDecision`.
 * - `nothing_open`: no work of the trigger goes on.
 * - `previous_open`: work of an earlier firing goes on.
 * - `previous_waits_for_person`: it goes on, and waits for a person.
 * - `previous_ending`: it was cancelled and has not ended.
 * - `one_waits`: another firing waits already.
 * - `queue_full`: as many wait as may.
 */
export type OverlapReason =
  | 'nothing_open'
  | 'previous_open'
  | 'previous_waits_for_person'
  | 'previous_ending'
  | 'one_waits'
  | 'queue_full';

/** A decision about a firing, as plain JSON: for the ledger of the trigger. */
export interface OverlapDecision {
  readonly action: OverlapAction;
  readonly reason: OverlapReason;
  readonly reasoning: string;
}

/** Most firings that wait by the policy `queue`. */
const mostQueued = 10;

/**
 * Decides about a firing whose trigger may have open work. Deleting the session of that work must
 * count as its end, or `skip` would skip for ever.
 */
export function overlapDecision(policy: OverlapPolicy, question: OverlapQuestion): OverlapDecision {
  const { open, queued } = question;
  if (open === undefined && queued === 0)
    return decided('start', 'nothing_open', 'No work of an earlier firing goes on.');
  const reason = reasonOf(open);
  const why = open === undefined ? 'Another firing waits to start.' : sentenceOf(open);
  if (policy === 'skip') return decided('skip', reason, `${why} The trigger skips this firing.`);
  const most = policy === 'queue' ? mostQueued : 1;
  if (queued >= most) {
    const full = most === 1 ? 'One firing waits' : `${queued} firings wait`;
    const fullness: OverlapReason = most === 1 ? 'one_waits' : 'queue_full';
    return decided(
      'coalesce',
      fullness,
      `${why} ${full} already: this one joins the last of them.`,
    );
  }
  const cancels = policy === 'cancel_previous' && open !== undefined && open.cancelled !== true;
  return cancels
    ? decided('cancel_first', reason, `${why} It is cancelled, and this firing waits for its end.`)
    : decided('queue', reason, `${why} This firing waits.`);
}

function reasonOf(open: OpenFiring | undefined): OverlapReason {
  if (open === undefined) return 'one_waits';
  if (open.cancelled === true) return 'previous_ending';
  return open.waitsForPerson === true ? 'previous_waits_for_person' : 'previous_open';
}

function sentenceOf({ instant, waitsForPerson, cancelled }: OpenFiring): string {
  const work = `The work of the firing of ${new Date(instant).toISOString()}`;
  if (cancelled === true) return `${work} was cancelled and has not ended.`;
  return waitsForPerson === true ? `${work} waits for a person.` : `${work} goes on.`;
}

function decided(action: OverlapAction, reason: OverlapReason, reasoning: string): OverlapDecision {
  return { action, reason, reasoning };
}
