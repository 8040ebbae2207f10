import type { Bar } from './bars.ts';

/** Stretch in which nothing works: only something waits. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Milliseconds of width that a folded gap has, and how long a gap must be to be folded. */
const foldedMs = 2_600;
const shortestGapMs = 5_000;
/** Milliseconds of a gap that are shown on each side as they are. */
const edgeMs = 300;

/** Finds the stretches of more than five seconds in which no model and no tool works. */
export function gapsOf(bars: readonly Bar[], end: number): readonly Gap[] {
  const busy = bars
    .filter(({ kind }) => kind === 'model' || kind === 'tool')
    .map(({ startedAt, endedAt }) => ({ from: startedAt, to: Math.min(endedAt, end) }))
    .sort((left, right) => left.from - right.from);
  const gaps: Gap[] = [];
  let until = busy[0]?.from ?? end;
  for (const { from, to } of [...busy, { from: end, to: end }]) {
    if (from - until > shortestGapMs)
      gaps.push({ from: until + edgeMs, to: from === end ? end : from - edgeMs });
    until = Math.max(until, to);
  }
  return gaps;
}

/** Time with its gaps drawn short: a map between instants and places, both in milliseconds. */
export class FoldedTime {
  readonly #gaps: readonly Gap[];

  constructor(gaps: readonly Gap[]) {
    this.#gaps = gaps;
  }

  get gaps(): readonly Gap[] {
    return this.#gaps;
  }

  /** Returns the place of an instant. */
  place(instant: number): number {
    let folded = 0;
    for (const { from, to } of this.#gaps) {
      const width = to - from;
      if (instant >= to) folded += width - foldedMs;
      else if (instant > from) folded += (instant - from) * (1 - foldedMs / width);
      else break;
    }
    return instant - folded;
  }

  /** Returns the instant at a place: the inverse of `place`. */
  instant(place: number): number {
    let folded = 0;
    for (const { from, to } of this.#gaps) {
      const start = from - folded;
      if (place <= start) break;
      const width = to - from;
      if (place < start + foldedMs) return from + ((place - start) * width) / foldedMs;
      folded += width - foldedMs;
    }
    return place + folded;
  }
}
