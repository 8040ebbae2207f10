import type { JsonValue } from '../base/json.ts';
import { isEffectId } from '../ledger/effect-id.ts';
import type { Event, EventOf } from '../ledger/event.ts';
import type { InvocationRecord } from '../ledger/folds/invocation-fold.ts';
import { type CallEvidence, isVeto } from '../supervision/evidence.ts';
import type { LedgerView } from './history.ts';
import { Visibility } from './visibility.ts';

/**
 * Returns the last calls that an agent settled before one of its invocations began, oldest first.
 * Only calls that the invocation sees are returned. The function reads the ledger backwards, so
 * call it once, at the first call of the invocation.
 *
 * `turn` of a call counts back from the invocation's own turn, which begins at 0. An invocation
 * that begins by a handoff continues the turn of the conversation. Any other start, and each
 * message since, begins a new turn.
 * @param whole replaces references by the large values that they stand for
 */
export function priorEvidence(
  view: LedgerView,
  path: string,
  agent: string,
  limit: number,
  whole: (event: Event) => Event,
): readonly CallEvidence[] {
  const record = view.invocations.byPath.get(path);
  if (record === undefined || limit <= 0) return [];
  const line = new Line(view, path, agent, record.start.seq);
  const settled = new Map<
    string,
    {
      readonly event: EventOf<'tool_result'>;
      readonly turn: number;
      args: JsonValue | undefined;
      calledAt: number;
    }
  >();
  let turn = record.mode === 'transfer' ? 0 : -1;
  let missing = 0;
  for (let i = Math.min(record.start.seq - 1, view.events.length) - 1; i >= 0; i--) {
    const event = view.events[i] as Event;
    if (event.type === 'user') {
      if (line.sees(event)) turn--;
    } else if (event.type === 'tool_result') {
      if (settled.size === limit || !line.has(event)) continue;
      settled.set(event.callId, {
        event: whole(event) as EventOf<'tool_result'>,
        turn,
        args: undefined,
        calledAt: 0,
      });
      missing++;
    } else if (event.type === 'tool_call') {
      // The call of each result stands before it.
      const found = settled.get(event.callId);
      if (found === undefined || found.args !== undefined) continue;
      found.args = (whole(event) as EventOf<'tool_call'>).args;
      found.calledAt = event.seq;
      if (--missing === 0 && settled.size === limit) break;
    }
  }
  const evidence: CallEvidence[] = [];
  // Calls of one round stand in the order in which the model made them, not in that of their ends.
  for (const { event, turn: at, args } of [...settled.values()].sort(
    (one, other) => one.calledAt - other.calledAt,
  )) {
    if (args !== undefined)
      evidence.push({ name: event.name, args, result: event.result, turn: at });
  }
  return evidence;
}

/** View of an invocation on the earlier work of its own agent. */
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

  /** True when the agent itself made the call, in an invocation that had ended before. */
  has(event: EventOf<'tool_result'>): boolean {
    if (!event.settled || event.late === true || isVeto(event.result) || isEffectId(event.callId))
      return false;
    const author: InvocationRecord | undefined = this.#view.invocations.byPath.get(
      event.invocationId ?? '',
    );
    if (author?.name !== this.#agent || author.end === undefined || author.end.seq >= this.#start)
      return false;
    return this.#visibility.relation(event) === 'before';
  }
}
