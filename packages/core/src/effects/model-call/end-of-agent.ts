import { isRelease } from '../../base/cancel-scope.ts';
import { type AdjutantError, isAdjutantError } from '../../base/error.ts';
import { type DecisionDraft, decision, failingContent } from '../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { ModelCallPorts } from './ports.ts';

/** Draft of the event that ends a model call. */
export type EndDraft = Extract<EventDraft, { type: 'model_end' }>;

/** Returns the awaited value, or the error of a hook that failed. */
export async function orFailedHook<Value>(asked: Promise<Value>): Promise<Value | AdjutantError> {
  try {
    return await asked;
  } catch (thrown) {
    if (!isAdjutantError(thrown, 'hook_failed')) throw thrown;
    return thrown as AdjutantError;
  }
}

/**
 * Records the call of a forbidden model and ends the agent. Nothing is tried instead, because
 * nothing may hide the call.
 */
export function recordForbidden(ports: ModelCallPorts, end: EndDraft, thrown: AdjutantError): void {
  const why = decision('models', 'forbidden', failingContent(end.invocationId, thrown));
  recordEndOfAgent(ports, { ...end, usage: { inputTokens: 0, outputTokens: 0 } }, thrown, why);
}

/** Records a hook that threw, and ends the agent. The call was made, and counts as paid. */
export function recordFailedHook(
  ports: ModelCallPorts,
  end: EndDraft,
  thrown: AdjutantError,
): void {
  const why = decision('hooks', 'failed', failingContent(end.invocationId, thrown));
  recordEndOfAgent(ports, end, thrown, why);
}

function recordEndOfAgent(
  ports: ModelCallPorts,
  end: EndDraft,
  thrown: AdjutantError,
  why: DecisionDraft,
): void {
  if (ports.ledger.failure !== undefined || isRelease(ports.scope.reason)) return;
  ports.ledger.append([{ ...end, status: 'error', error: thrown.toJSON() }, why]);
}
