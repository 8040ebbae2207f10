import { isEffectId } from './effect-id.ts';
import type { EventOf } from './event.ts';

/**
 * Whether a result tells an agent something about a call that it has been told to have been given
 * up: how it ended after all.
 */
export function isLateNews({ late, effect, callId }: EventOf<'tool_result'>): boolean {
  return late === true && effect !== 'unknown' && !isEffectId(callId);
}
