const hourMs = 3_600_000;

/** Question about the most firings of an hour. Instants are epoch milliseconds. */
export interface HourlyQuestion {
  /** When the last firings were, in any order. Those of an hour ago and before do not count. */
  readonly firedAt: readonly number[];
  readonly now: number;
  readonly mostPerHour: number;
}

/** Firings that an hour still allows. */
export interface HourlyAllowance {
  /** Number of firings that may start now. */
  readonly left: number;
  /** When one more may fire, if none is left. */
  readonly freeAt: number | undefined;
}

/**
 * Returns the number of firings that a trigger has left. The limit ends cycles that no ledger sees,
 * as one through a webhook that loses the lineage.
 */
export function hourlyAllowance(question: HourlyQuestion): HourlyAllowance {
  const { firedAt, now, mostPerHour } = question;
  // A firing of another hour ahead was by a clock that went back, and must not block for long.
  const recent = firedAt
    .filter((at) => Math.abs(now - at) < hourMs)
    .sort((one, other) => one - other);
  const left = Math.max(0, mostPerHour - recent.length);
  const oldest = recent[recent.length - mostPerHour];
  return { left, freeAt: left === 0 && oldest !== undefined ? oldest + hourMs : undefined };
}
