import { isDecision } from './decisions/decision.ts';
import type { Event } from './event.ts';

/** Ids of the shared scopes that a ledger has taken part in, by scope name. */
export function recordedScopes(events: readonly Event[]): Record<string, string> {
  const scopes: Record<string, string> = {};
  for (const event of events) {
    if (event.type === 'state_change' && event.scopeId !== undefined)
      scopes[event.scope] = event.scopeId;
    else if (isDecision(event, 'shared_state', 'bind_scopes'))
      Object.assign(scopes, event.data?.scopes);
  }
  return scopes;
}
