import type { AdjutantError } from '../base/error.ts';
import { deepFreeze } from '../base/json.ts';
import { type Event, type EventOf, eventVersions } from './event.ts';
import { sharedKey } from './ledger-writer.ts';

/** Events in the place of others, by the events that they replace, and the keys whose writes are gone. */
export interface Refusal {
  readonly replaced: ReadonlyMap<Event, Event>;
  readonly refused: ReadonlySet<string>;
}

/**
 * What happened without the shared writes that the store refused. Each refused change becomes a decision that says so; the result of the
 * tool that made it stays and names the conflict in its metadata; a body that was to end with it ends as an error.
 */
export function refuseWrites(events: readonly Event[], conflict: AdjutantError): Refusal {
  const { scope, scopeId, keys } = conflict.data as { scope: string; scopeId: string; keys: readonly string[] };
  const isRefused = (event: Event): event is EventOf<'state_change'> =>
    event.type === 'state_change' &&
    event.source === 'mutation' &&
    event.scope === scope &&
    event.scopeId === scopeId &&
    event.changes.some(({ key }) => keys.includes(key));
  const replaced = new Map<Event, Event>();
  const refused = new Set<string>();
  const authors = new Set<string>();
  for (const event of events) {
    if (isRefused(event)) {
      for (const { key } of event.changes) refused.add(sharedKey({ scope, scopeId, key }));
      authors.add(`${event.invocationId} ${event.by}`);
      replaced.set(event, deepFreeze(decisionFor(event, conflict)));
    } else if (event.type === 'tool_result' && authors.delete(`${event.invocationId} ${event.by}`)) {
      const metadata = { ...event.result.metadata, stateConflict: { scope, scopeId, keys } };
      replaced.set(event, deepFreeze({ ...event, result: { ...event.result, metadata } }));
    } else if (event.type === 'invocation_end' && authors.delete(`${event.invocationId} runtime`)) {
      const { output: _output, next: _next, ...rest } = event;
      replaced.set(event, deepFreeze({ ...rest, status: 'error' as const, error: conflict.toJSON() }));
    }
  }
  return { replaced, refused };
}

function decisionFor(event: EventOf<'state_change'>, conflict: AdjutantError): EventOf<'decision'> {
  const { seq, id, at, invocationId, scope, scopeId, changes } = event;
  return {
    v: eventVersions.decision,
    seq,
    id,
    at,
    type: 'decision',
    by: 'runtime',
    ...(invocationId === undefined ? {} : { invocationId }),
    component: 'shared_state',
    decision: 'refuse_write',
    reasoning: conflict.message,
    alternatives: ['read the scope again and repeat the change'],
    data: { scope, ...(scopeId === undefined ? {} : { scopeId }), keys: changes.map(({ key }) => key) },
  };
}
