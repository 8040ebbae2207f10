/** Instants of a schedule, in whole epoch milliseconds. Ranges are (`after`, `until`]. */
export interface InstantSource {
  /** The first instant after another; `undefined` when there is none. */
  next(after: number): number | undefined;
  /** Number of instants. */
  count(after: number, until: number): number;
  /** The last instants, at most `limit`, ascending. */
  newest(limit: number, after: number, until: number): readonly number[];
}
