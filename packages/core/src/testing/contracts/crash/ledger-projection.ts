import { canonicalJson } from '../../../base/json.ts';
import { promptOf } from '../../../context/recipe.ts';
import type { Event, EventOf } from '../../../ledger/event.ts';

type Resolve = (value: unknown) => unknown;

/** The parts of a session that its projection needs. */
export interface ProjectionSource {
  readonly events: readonly Event[];
  readonly resolve: Resolve;
}

interface OfCall {
  readonly callId: string;
  readonly entry: unknown;
}

/**
 * Projects a ledger to the parts that do not depend on stops. Each invocation has its events in
 * order. Tool results, questions and answers stand in the order of the calls. Decisions and writes
 * of tools and hooks stand in any order. Resume marks, interrupted model calls, attempts, times and
 * ids are left out. Two ledgers of one run have equal projections, however often it was stopped.
 */
export function ledgerProjection({
  events,
  resolve,
}: ProjectionSource): Readonly<Record<string, readonly unknown[]>> {
  const parts = new Parts();
  for (const event of events) parts.add(event, events, resolve);
  return parts.all();
}

/** The parts of the projection of each invocation. */
class Parts {
  readonly #lists: Record<string, unknown[]> = {};
  readonly #results: Record<string, OfCall[]> = {};
  readonly #requests: Record<string, OfCall[]> = {};
  readonly #written: Record<string, string[]> = {};
  readonly #decided: Record<string, string[]> = {};

  add(event: Event, events: readonly Event[], resolve: Resolve): void {
    const path = event.invocationId ?? '(outside)';
    if (event.type === 'tool_result') {
      if (event.settled)
        put(this.#results, path, {
          callId: event.callId,
          entry: ['result', event.callId, event.result, event.next, event.notes],
        });
    } else if (event.type === 'tool_yield' || event.type === 'tool_input') {
      put(this.#requests, path, { callId: event.callId, entry: requestEntry(event) });
    } else if (
      event.type === 'state_change' &&
      (event.by.startsWith('tool:') || event.by === 'runtime')
    ) {
      put(this.#written, path, canonicalJson([event.scope, valuesOf(event), event.flush]));
    } else if (event.type === 'decision') {
      put(this.#decided, path, canonicalJson(decisionEntry(event)));
    } else {
      const entry = entryOf(event, events, resolve);
      if (entry !== undefined) put(this.#lists, path, entry);
    }
  }

  all(): Readonly<Record<string, readonly unknown[]>> {
    const lists: Record<string, readonly unknown[]> = { ...this.#lists };
    for (const [path, list] of Object.entries(this.#results))
      lists[`${path} results`] = inOrderOfCalls(list);
    for (const [path, list] of Object.entries(this.#requests))
      lists[`${path} requests`] = inOrderOfCalls(list);
    for (const [path, list] of Object.entries(this.#decided))
      lists[`${path} decisions`] = list.sort();
    for (const [path, list] of Object.entries(this.#written))
      lists[`${path} writes of tools and hooks`] = list.sort();
    return lists;
  }
}

function put<Entry>(lists: Record<string, Entry[]>, path: string, entry: Entry): void {
  lists[path] ??= [];
  lists[path].push(entry);
}

function inOrderOfCalls(list: readonly OfCall[]): unknown[] {
  return [...list]
    .sort((a, b) => a.callId.localeCompare(b.callId, 'en', { numeric: true }))
    .map(({ entry }) => entry);
}

/** Projects a decision. Decisions about concurrent calls come in any order. */
function decisionEntry({ component, decision, tell, data = {} }: EventOf<'decision'>) {
  // Tools that decide themselves how often they are tried count attempts, interrupted ones
  // included.
  const attempt = decision === 'retry' ? null : (data['attempt'] ?? null);
  return [component, decision, tell ?? null, data['callId'] ?? null, attempt];
}

function requestEntry(event: EventOf<'tool_yield'> | EventOf<'tool_input'>): unknown {
  if (event.type === 'tool_yield')
    return ['ask', event.callId, event.kind, event.args, event.generation];
  return ['answer', event.callId, event.decision, event.input, event.reason];
}

function entryOf(event: Event, events: readonly Event[], resolve: Resolve): unknown {
  switch (event.type) {
    case 'invocation_resume':
    case 'invocation_yield':
    case 'tool_attempt':
    case 'model_start':
      return undefined;
    case 'model_end':
      return event.status === 'completed'
        ? ['model', event.round, promptBefore(event, events, resolve)]
        : undefined;
    case 'invocation_start':
      // The input of a sleep is the time of its end.
      return [
        'start',
        event.kind,
        event.name,
        event.mode,
        event.kind === 'sleep' ? undefined : event.input,
        event.branch,
      ];
    case 'invocation_end':
      return ['end', event.status, event.output, event.error, event.next];
    case 'state_change':
      // Observations of a shared scope depend on the time of the look.
      return event.source === 'observation'
        ? undefined
        : ['state', event.scope, valuesOf(event), event.flush];
    case 'compaction':
      return ['compaction', event.strategy, event.reason, event.covers.length, event.summary];
    case 'handoff':
      return ['handoff', event.from, event.to, event.depth];
    default:
      return [
        event.type,
        'text' in event ? event.text : undefined,
        'args' in event ? event.args : undefined,
      ];
  }
}

function promptBefore(
  end: EventOf<'model_end'>,
  events: readonly Event[],
  resolve: Resolve,
): string {
  const start = events.findLast(
    (event) =>
      event.type === 'model_start' &&
      event.invocationId === end.invocationId &&
      event.seq < end.seq,
  );
  return start === undefined
    ? 'no model_start'
    : withoutProviderIds(canonicalJson(promptOf(events, start.seq, resolve)));
}

/** Removes provider ids: scripted models number their calls over their own life. */
function withoutProviderIds(text: string): string {
  return text.replace(/"toolCallId":"[^"]*"/g, '"toolCallId":"…"');
}

/** Returns the written values without `after`: the places differ in a run that was continued. */
function valuesOf({ changes }: EventOf<'state_change'>): readonly unknown[] {
  return changes.map(({ key, op, oldValue, newValue }) => ({ key, op, oldValue, newValue }));
}
