import { isEffectId } from './effect-id.ts';
import type { EventOf } from './event.ts';

/**
 * Checks that a late result gives an agent the end of a call that was reported to it as abandoned.
 */
export function isLateNews({ late, effect, callId }: EventOf<'tool_result'>): boolean {
  return late === true && effect !== 'unknown' && !isEffectId(callId);
}
