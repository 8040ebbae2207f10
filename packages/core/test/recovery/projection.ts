import { canonicalJson, type Event, type EventOf, promptOf } from 'adjutant';

type Resolve = (value: unknown) => unknown;

interface OfCall {
  readonly callId: string;
  readonly entry: unknown;
}

/**
 * What a ledger says apart from how it came about: per invocation, in order, with tool results, questions and answers in the order of the calls,
 * with decisions and writes of tools and hooks in any order, and without resume marks, interrupted model calls, attempts, times and ids. Two
 * ledgers of one run are equal in this, however often it was stopped.
 */
export function projection(events: readonly Event[], resolve: Resolve): Readonly<Record<string, readonly unknown[]>> {
  const lists: Record<string, unknown[]> = {};
  const results: Record<string, OfCall[]> = {};
  const requests: Record<string, OfCall[]> = {};
  const written: Record<string, string[]> = {};
  const decided: Record<string, string[]> = {};
  for (const event of events) {
    const path = event.invocationId ?? '(outside)';
    lists[path] ??= [];
    if (event.type === 'tool_result') {
      results[path] ??= [];
      if (event.settled) results[path].push({ callId: event.callId, entry: ['result', event.callId, event.result, event.next, event.notes] });
      continue;
    }
    if (event.type === 'tool_yield' || event.type === 'tool_input') {
      requests[path] ??= [];
      requests[path].push({ callId: event.callId, entry: requestEntry(event) });
      continue;
    }
    if (event.type === 'state_change' && (event.by.startsWith('tool:') || event.by === 'runtime')) {
      written[path] ??= [];
      written[path].push(canonicalJson([event.scope, event.changes, event.flush]));
      continue;
    }
    if (event.type === 'decision') {
      decided[path] ??= [];
      decided[path].push(canonicalJson(decisionEntry(event)));
      continue;
    }
    const entry = entryOf(event, events, resolve);
    if (entry !== undefined) lists[path].push(entry);
  }
  for (const [path, list] of Object.entries(results)) lists[`${path} results`] = inOrderOfCalls(list);
  for (const [path, list] of Object.entries(requests)) lists[`${path} requests`] = inOrderOfCalls(list);
  for (const [path, list] of Object.entries(decided)) lists[`${path} decisions`] = list.sort();
  for (const [path, list] of Object.entries(written)) lists[`${path} writes of tools and hooks`] = list.sort();
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

function inOrderOfCalls(list: readonly OfCall[]): unknown[] {
  return [...list].sort((a, b) => a.callId.localeCompare(b.callId, 'en', { numeric: true })).map(({ entry }) => entry);
}

/** Calls beside each other are decided about in the order in which they come. */
function decisionEntry({ component, decision, tell, data = {} }: EventOf<'decision'>) {
  // Tools that say themselves how often they are tried count attempts, those that were cut off too.
  const attempt = decision === 'retry' ? null : (data['attempt'] ?? null);
  return [component, decision, tell ?? null, data['callId'] ?? null, attempt];
}

function requestEntry(event: EventOf<'tool_yield'> | EventOf<'tool_input'>): unknown {
  if (event.type === 'tool_yield') return ['ask', event.callId, event.kind, event.args, event.generation];
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
      return event.status === 'completed' ? ['model', event.round, promptBefore(event, events, resolve)] : undefined;
    case 'invocation_start':
      return ['start', event.kind, event.name, event.mode, event.input, event.branch];
    case 'invocation_end':
      return ['end', event.status, event.output, event.error, event.next];
    case 'state_change':
      // What was seen of a shared scope, and when, depends on when it was looked at.
      return event.source === 'observation' ? undefined : ['state', event.scope, event.changes, event.flush];
    case 'compaction':
      return ['compaction', event.strategy, event.reason, event.covers.length, event.summary];
    case 'handoff':
      return ['handoff', event.from, event.to, event.depth];
    default:
      return [event.type, 'text' in event ? event.text : undefined, 'args' in event ? event.args : undefined];
  }
}

function promptBefore(end: EventOf<'model_end'>, events: readonly Event[], resolve: Resolve): string {
  const start = events.findLast((event) => event.type === 'model_start' && event.invocationId === end.invocationId && event.seq < end.seq);
  return start === undefined ? 'no model_start' : withoutProviderIds(canonicalJson(promptOf(events, start.seq, resolve)));
}

/** Scripted models number their calls over their own life. */
function withoutProviderIds(text: string): string {
  return text.replace(/"toolCallId":"[^"]*"/g, '"toolCallId":"…"');
}
