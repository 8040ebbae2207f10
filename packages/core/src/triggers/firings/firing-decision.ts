/** The trigger begins again from now, because the clock went back. */
export interface BeganAgain {
  readonly decision: 'began_again';
  readonly reasoning: string;
  /** The last instant that had been considered, which lies ahead. */
  readonly considered: number;
  readonly now: number;
}

/** Instants that do not fire by themselves. */
export interface InstantsLeftOut {
  /**
   * - `missed_skipped`: they were late, and the trigger skips those.
   * - `missed_joined`: they were late, and one firing stands for all of them.
   * - `missed_dropped`: they were late, and there were more than fire one after another.
   * - `hourly_limit`: the trigger has fired as often as it may in an hour.
   */
  readonly decision: 'missed_skipped' | 'missed_joined' | 'missed_dropped' | 'hourly_limit';
  readonly reasoning: string;
  readonly count: number;
  /** The first and the last of them, in epoch milliseconds. */
  readonly first: number;
  readonly last: number;
}

/** A decision about instants, as plain JSON: for the ledger of the trigger. */
export type FiringDecision = BeganAgain | InstantsLeftOut;

/** Decision for a clock that went back by more than any schedule explains. */
export function beganAgain(considered: number, now: number): BeganAgain {
  const reasoning =
    `The last instant considered, ${shown(considered)}, lies more than a period and a day ahead ` +
    `of the clock, ${shown(now)}. The trigger begins again from now.`;
  return { decision: 'began_again', reasoning, considered, now };
}

/** Instants that are left out, as a range. */
export interface InstantRange {
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

/** Decision about instants that do not fire by themselves; `fate` is a word such as "Skipped". */
export function leftOut(
  decision: InstantsLeftOut['decision'],
  fate: string,
  { count, first, last }: InstantRange,
  why: string,
): InstantsLeftOut {
  const which =
    count === 1 ? shown(first) : `${count} instants from ${shown(first)} to ${shown(last)}`;
  return { decision, reasoning: `${fate} ${which}: ${why}.`, count, first, last };
}

function shown(instant: number): string {
  return new Date(instant).toISOString();
}
