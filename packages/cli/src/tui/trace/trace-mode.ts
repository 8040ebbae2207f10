import type { TextSearch } from '../full-screen/text-search.ts';
import type { Screen } from '../screens/live-view.ts';
import type { Line } from '../text/spans.ts';

/** Moves that all modes of the trace know. */
export type TraceMove = 'up' | 'down' | 'pageUp' | 'pageDown' | 'halfDown' | 'first' | 'last';

/** One way to look at what happened. */
export interface TraceMode {
  /** Place of the event that is looked at. `undefined`: it is about none. */
  readonly place: number | undefined;
  /** Takes in what has come since. */
  grow(): void;
  move(move: TraceMove): void;
  /** Goes to an event. */
  goTo(place: number): void;
  /** Shows only what has all these words. No words: everything. */
  filter(words: readonly string[]): void;
  /** Goes to the next place that has what is searched. Returns false when there is none. */
  find(search: TextSearch, by: 1 | -1): boolean;
  /** Takes a key that this mode alone has. Returns true when it was one. */
  key(key: string): boolean;
  readonly keys: readonly string[];
  /** Number of what there is to see, and a fact that stands at the right of the header. */
  readonly count: string;
  readonly fact: string;
  /** Exactly so many lines. */
  lines(screen: Screen, height: number, search: TextSearch): readonly Line[];
}

/** Number of rows by which a move goes; the ends are as far as there is anything. */
export function rowsOf(move: TraceMove, room: number): number {
  const rows: Readonly<Record<TraceMove, number>> = {
    up: -1,
    down: 1,
    pageUp: -room,
    pageDown: room,
    halfDown: Math.ceil(room / 2),
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
  };
  return rows[move];
}
