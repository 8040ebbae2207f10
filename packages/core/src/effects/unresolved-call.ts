import { sha256 } from '../base/hash.ts';
import { canonicalJson, coerceToJson } from '../base/json.ts';
import type { Event } from '../ledger/event.ts';

/** Names what a call does: equal for calls of one tool with the same prepared arguments. */
export function callFingerprint(tool: string, args: unknown): string {
  return sha256(`${tool}\n${canonicalJson(coerceToJson(args).value)}`).slice(0, 20);
}

/** A call of which nobody knows whether it took effect. */
export interface UnresolvedCall {
  readonly callId: string;
  readonly key: string;
}

/**
 * The last call before `callId` that does the same and of which nobody knows yet whether it took effect; `undefined`: there is none.
 * A late result that says so resolves it, and so does a later call with its key that succeeded.
 */
export function unresolvedCall(events: readonly Event[], fingerprint: string, callId: string): UnresolvedCall | undefined {
  const keys = new Map<string, string>();
  const unresolved = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'tool_attempt' && event.fingerprint === fingerprint && event.callId !== callId) keys.set(event.callId, event.key);
    if (event.type !== 'tool_result') continue;
    const key = keys.get(event.callId);
    if (key === undefined) continue;
    if (event.effect === 'unknown') {
      if (event.settled) unresolved.set(event.callId, key);
    } else if (event.late === true) unresolved.delete(event.callId);
    else if (event.effect === undefined && event.settled) for (const [other, otherKey] of unresolved) if (otherKey === key) unresolved.delete(other);
  }
  const last = [...unresolved].at(-1);
  return last === undefined ? undefined : { callId: last[0], key: last[1] };
}
