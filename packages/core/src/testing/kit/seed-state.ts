import type { JsonValue } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';

/**
 * Writes state by key into a session. Values under the name of a shared scope go into that scope.
 */
export function writeState(session: Session, state: { readonly [key: string]: JsonValue }): void {
  const own: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(state)) {
    const scope = session.shared.has(key)
      ? (session.state as Record<string, { update(changes: object): void }>)[key]
      : undefined;
    if (scope !== undefined && typeof value === 'object' && value !== null) scope.update(value);
    else own[key] = value;
  }
  if (Object.keys(own).length > 0) session.state.update(own);
}
