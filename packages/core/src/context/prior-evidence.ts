import type { Event, EventOf } from '../ledger/event.ts';
import type { InvocationRecord } from '../ledger/invocation-fold.ts';
import { type CallEvidence, isVeto } from '../supervision/evidence.ts';
import type { LedgerView } from './history.ts';
import { Visibility } from './visibility.ts';

/**
 * The last calls that an agent settled before one of its invocations began, as far as the invocation sees them, oldest first.
 * Their `turn` counts back from the start of the invocation: 0, or less by one for each message that came since.
 * @param whole puts large values in the place of their references
 */
export function priorEvidence(view: LedgerView, path: string, agent: string, limit: number, whole: (event: Event) => Event): readonly CallEvidence[] {
  const start = view.invocations.byPath.get(path)?.start.seq;
  if (start === undefined || limit <= 0) return [];
  const line = new Line(view, path, agent, start);
  const results: { readonly event: EventOf<'tool_result'>; readonly turn: number }[] = [];
  const found: CallEvidence[] = [];
  let turn = 0;
  // Calls stand before their results, so the walk goes on until each result has its call.
  for (let i = Math.min(start - 1, view.events.length) - 1; i >= 0 && found.length < limit; i--) {
    const event = view.events[i] as Event;
    if (event.type === 'user') {
      if (line.sees(event)) turn--;
    } else if (event.type === 'tool_result' && event.settled && event.late !== true && results.length < limit && line.has(event)) {
      const settled = whole(event) as EventOf<'tool_result'>;
      if (!isVeto(settled.result)) results.push({ event: settled, turn });
    }
  }
  return found;
}

/** What an invocation sees of its own agent. */
class Line {
  readonly #view: LedgerView;
  readonly #visibility: Visibility;
  readonly #agent: string;
  readonly #start: number;

  constructor(view: LedgerView, path: string, agent: string, start: number) {
    this.#view = view;
    this.#visibility = new Visibility(view.invocations, path, 'ancestors');
    this.#agent = agent;
    this.#start = start;
  }

  sees(event: Event): boolean {
    return this.#visibility.relation(event) !== 'hidden';
  }

  /** Whether the agent itself did it, in an invocation that had ended before. */
  has(event: Event): boolean {
    const author: InvocationRecord | undefined = this.#view.invocations.byPath.get(event.invocationId ?? '');
    if (author?.name !== this.#agent || author.end === undefined || author.end.seq >= this.#start) return false;
    return this.#visibility.relation(event) === 'before';
  }
}
