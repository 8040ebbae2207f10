import type { StoredEvent } from 'adjutant';
import { type EventFilter, textSearch } from 'adjutant/views';
import type { SessionAddress, SessionFolds } from '../../stream/replay/session-folds.ts';
import { outlineOf } from './outline.ts';

/** Events that one page is looked for in, and characters of their texts. */
const mostRead = 20_000;
const mostCharacters = 16_777_216;
/** Events between two chosen ones that are read along, and events that are read at once. */
const widestGap = 32;
const longestSpan = 1_024;

/** How far a filter has looked: at the end of its events, the `after` of the next page. */
export interface Looked {
  /** Missing until the end of the events. */
  to?: number;
}

/** True when a filter leaves events out. */
export function isNarrow(filter: EventFilter): boolean {
  return Object.values(filter).some((wanted) => wanted !== undefined);
}

/**
 * The events after a place that a filter chooses, until so many were read that others should have
 * their turn. Those of other types, agents and times are not read.
 */
export async function* matchingEventsOf(
  { folds, address }: { readonly folds: SessionFolds; readonly address: SessionAddress },
  filter: EventFilter,
  after: number,
  looked: Looked,
): AsyncGenerator<StoredEvent, void, undefined> {
  const outline = await outlineOf(folds, address);
  const { last } = outline;
  const has = filter.text === undefined ? undefined : textSearch(filter.text);
  let read = 0;
  let characters = 0;
  for (const { from, to, chosen } of spansOf(outline.matching(filter, after))) {
    for await (const event of address.app.sessions.events(address.session, {
      after: from - 1,
      upTo: to,
    })) {
      if (!chosen.has(event.seq)) continue;
      const text = has === undefined ? '' : JSON.stringify(event);
      if (has === undefined || has(text)) yield event;
      characters += text.length;
      if (++read < mostRead && characters < mostCharacters) continue;
      looked.to = event.seq;
      return;
    }
  }
  looked.to = last;
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly chosen: ReadonlySet<number>;
}

/** Places that are near each other are read together. */
function* spansOf(places: Iterable<number>): Generator<Span, void, undefined> {
  let chosen = new Set<number>();
  let from = 0;
  let to = 0;
  for (const seq of places) {
    if (chosen.size > 0 && (seq - to > widestGap || seq - from >= longestSpan)) {
      yield { from, to, chosen };
      chosen = new Set();
    }
    if (chosen.size === 0) from = seq;
    to = seq;
    chosen.add(seq);
  }
  if (chosen.size > 0) yield { from, to, chosen };
}
