import { isKnown } from '../feed/known-events.ts';
import type { Openness, TraceIndex } from './trace-index.ts';

/** Checks whether the event at a place is wanted. */
export type EventFilter = (place: number) => boolean;

/**
 * The rows of the trace: places of events that are neither folded nor filtered out, in order. A
 * filter shows what it finds wherever it is folded.
 */
export class TraceRows {
  readonly #index: TraceIndex;
  readonly #openness = new Map<number, Openness>();
  #filter: EventFilter | undefined;
  #places: number[] = [];
  /** 1 for each place that a fold hides. */
  #hidden = new Uint8Array(1_024);
  #seen = 0;

  constructor(index: TraceIndex) {
    this.#index = index;
    this.grow();
  }

  get places(): readonly number[] {
    return this.#places;
  }

  /** Takes in the events that have come since. */
  grow(): void {
    const { length } = this.#index;
    if (this.#hidden.length < length) {
      const larger = new Uint8Array(2 * length);
      larger.set(this.#hidden);
      this.#hidden = larger;
    }
    for (; this.#seen < length; this.#seen++) this.#take(this.#seen);
  }

  #take(place: number): void {
    const head = this.#index.headOf(place);
    const isHidden =
      head !== -1 &&
      (this.#hidden[head] === 1 || this.opennessOf(head) < this.#index.seenFrom(place));
    this.#hidden[place] = isHidden ? 1 : 0;
    if (this.#filter === undefined ? !isHidden : this.#filter(place)) this.#places.push(place);
  }

  #renew(): void {
    this.#places = [];
    this.#seen = 0;
    this.grow();
  }

  /** Shows only some of the events. `undefined`: all that are not folded. */
  filter(wanted: EventFilter | undefined): void {
    this.#filter = wanted;
    this.#renew();
  }

  /** Number of the row of a place, or of the last row before it. */
  rowOf(place: number): number {
    let low = 0;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#places[middle] as number) <= place) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  opennessOf(place: number): Openness {
    return this.#openness.get(place) ?? 1;
  }

  /** The least and the most that a head can be opened. `undefined`: nothing is folded into it. */
  rangeOf(place: number): readonly [Openness, Openness] | undefined {
    const event = this.#index.event(place);
    if (!isKnown(event)) return undefined;
    if (event.type === 'invocation_start') return [0, 1];
    if (event.type === 'model_start') return [0, 2];
    return event.type === 'tool_call' ? [1, 2] : undefined;
  }

  /** Opens or folds a head by one step. Returns true when that could be done. */
  open(place: number, by: 1 | -1): boolean {
    const range = this.rangeOf(place);
    if (range === undefined) return false;
    const next = (this.opennessOf(place) + by) as Openness;
    if (next < range[0] || next > range[1]) return false;
    this.#openness.set(place, next);
    this.#renew();
    return true;
  }

  /** The row at which an event is seen: details that are folded are seen at their head. */
  seenAt(place: number): number {
    const head = this.#index.headOf(place);
    const isFolded = this.#index.seenFrom(place) === 2 && this.opennessOf(head) < 2;
    return isFolded && this.#filter === undefined ? head : place;
  }

  /**
   * Opens what hides an event, and returns the place at which it is seen.
   * @param isWhole true to open the head of a detail, too
   */
  reveal(place: number, isWhole = false): number {
    if (this.#filter !== undefined) return place;
    const own = this.#index.headOf(place);
    if (isWhole && this.#index.seenFrom(place) === 2) this.#openness.set(own, 2);
    const shown = this.seenAt(place);
    for (let head = this.#index.headOf(shown); head !== -1; head = this.#index.headOf(head))
      if (this.opennessOf(head) === 0) this.#openness.set(head, 1);
    this.#renew();
    return shown;
  }
}

/** Returns the place of the next event that something holds of, going round at the ends. */
export function nextPlace(
  length: number,
  from: number,
  by: 1 | -1,
  holds: (place: number) => boolean,
): number | undefined {
  for (let step = 1; step <= length; step++) {
    const place = (((from + by * step) % length) + length) % length;
    if (holds(place)) return place;
  }
  return undefined;
}
