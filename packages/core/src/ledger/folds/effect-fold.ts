import { type EventOf, type Fold, unchanged } from '../event.ts';

/** The effect of a call, with its idempotency key. */
export interface CallEffect {
  readonly callId: string;
  readonly fingerprint: string;
  readonly key: string;
}

/**
 * Calls that may have an effect: those under way, and those whose effect is unknown. Changed in
 * place by the fold.
 */
export interface OpenEffects {
  readonly underWay: Map<string, CallEffect>;
  /** In the order in which they became unknown. */
  readonly unresolved: Map<string, CallEffect>;
}

export function noOpenEffects(): OpenEffects {
  return { underWay: new Map(), unresolved: new Map() };
}

/**
 * The last other call with the same fingerprint whose effect is unknown; `undefined` when there is
 * none.
 */
export function unresolvedCall(
  effects: OpenEffects,
  fingerprint: string,
  callId: string,
): CallEffect | undefined {
  let found: CallEffect | undefined;
  for (const effect of effects.unresolved.values())
    if (effect.fingerprint === fingerprint && effect.callId !== callId) found = effect;
  return found;
}

function onAttempt(
  effects: OpenEffects,
  { callId, fingerprint, key }: EventOf<'tool_attempt'>,
): OpenEffects {
  if (fingerprint !== undefined) effects.underWay.set(callId, { callId, fingerprint, key });
  return effects;
}

/**
 * A late result with a known effect resolves an unknown one. So does a later call with its key that
 * succeeded.
 */
function onResult(
  effects: OpenEffects,
  { callId, effect, settled, late }: EventOf<'tool_result'>,
): OpenEffects {
  if (late === true) {
    if (effect !== 'unknown') effects.unresolved.delete(callId);
    return effects;
  }
  const call = effects.underWay.get(callId);
  if (call === undefined || !settled) return effects;
  effects.underWay.delete(callId);
  if (effect === 'unknown') effects.unresolved.set(callId, call);
  if (effect === undefined)
    for (const other of [...effects.unresolved.values()])
      if (other.key === call.key) effects.unresolved.delete(other.callId);
  return effects;
}

/** Folds a ledger into its open effects. */
export const effectFold: Fold<OpenEffects> = {
  user: unchanged,
  assistant: unchanged,
  thought: unchanged,
  tool_call: unchanged,
  tool_attempt: onAttempt,
  tool_result: onResult,
  tool_yield: unchanged,
  tool_input: unchanged,
  state_change: unchanged,
  invocation_start: unchanged,
  invocation_yield: unchanged,
  invocation_resume: unchanged,
  invocation_end: unchanged,
  invocation_reopen: unchanged,
  model_start: unchanged,
  model_end: unchanged,
  handoff: unchanged,
  decision: unchanged,
  compaction: unchanged,
  artifact: unchanged,
  plan: unchanged,
  plan_update: unchanged,
  error: unchanged,
  cancel: unchanged,
  memory: unchanged,
};
