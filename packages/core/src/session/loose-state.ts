import type { JsonObject, JsonValue } from '../base/json.ts';
import type { EventOf } from '../ledger/event.ts';
import type { LooseSnapshot, SessionSnapshot } from './session-snapshot.ts';

/**
 * Records shared state that a snapshot has beside its events, as `userState`, `patientState`, …, as
 * observed.
 */
export function looseState(
  snapshot: SessionSnapshot | LooseSnapshot,
): Omit<EventOf<'state_change'>, 'v' | 'seq' | 'id' | 'at'>[] {
  const drafts: Omit<EventOf<'state_change'>, 'v' | 'seq' | 'id' | 'at'>[] = [];
  for (const [name, values] of Object.entries(snapshot)) {
    if (!name.endsWith('State') || typeof values !== 'object' || values === null) continue;
    const scope = name.slice(0, -'State'.length);
    const changes = Object.entries(values as JsonObject).map(([key, newValue]) => ({
      key,
      newValue: newValue as JsonValue,
    }));
    if (changes.length > 0)
      drafts.push({ type: 'state_change', by: 'runtime', scope, source: 'observation', changes });
  }
  return drafts;
}
