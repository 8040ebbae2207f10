import { coerceToJson, type JsonValue } from '../../../base/json.ts';
import type { SupervisedCall } from '../../../effects/tool-call/supervisor.ts';
import type { HookToolCall } from '../../../runnables/hooks.ts';

/** Returns a call as hooks see it, with the `changed` arguments if a guardrail changed them. */
export function hookCall(
  { state, args, attempt }: SupervisedCall,
  changed?: JsonValue,
): HookToolCall {
  return {
    callId: state.call.callId,
    name: state.fallback ?? state.call.name,
    args: changed ?? coerceToJson(args).value,
    attempt,
  };
}
