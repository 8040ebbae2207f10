import type { JsonValue } from '../../base/json.ts';
import type { ToolEffect, ToolResult } from '../../ledger/tool-result.ts';
import type { CallState } from '../../loop/call-state.ts';
import type { ResultDraft } from '../result-draft.ts';
import { resultDraft } from '../result-draft.ts';
import type { SupervisedResult } from './supervisor.ts';
/** Arguments with which a person replaced those of the model. */
export function editedArgs(
  { answered }: CallState,
  resolve: (value: unknown) => unknown,
): JsonValue | undefined {
  if (answered.length === 0) return undefined;
  const edit = answered.findLast(({ answer }) => answer.decision === 'edit');
  return edit === undefined ? undefined : (resolve(edit.answer.input) as JsonValue);
}

/** Result of a call that is settled without an attempt: nothing has been executed. */
export function refusalDraft(state: CallState, path: string, result: ToolResult): ResultDraft {
  return resultDraft(state.call, path, 0, result, {
    settled: true,
    durationMs: 0,
    effect: knownEffect(state),
  });
}

/**
 * Result of a call that was not attempted, as supervision decides. The call is settled, or tried
 * with another tool.
 */
export function supervisedRefusal(
  state: CallState,
  path: string,
  { result, notes, retryAfterMs, fallback }: SupervisedResult,
): ResultDraft {
  const settled = retryAfterMs === undefined;
  return resultDraft(state.call, path, 0, result, {
    settled,
    durationMs: 0,
    effect: knownEffect(state),
    notes,
    retryAfterMs,
    fallback,
  });
}

/**
 * Known effect of the attempts made so far: none, unless one of them left it unknown, or is open.
 * @param own attempt that has not begun, although it is recorded
 */
export function knownEffect({ attempts }: CallState, own?: number): ToolEffect {
  const isUnknown = attempts.some(({ attempt, result }) =>
    result === undefined ? attempt !== own : result.effect === 'unknown',
  );
  return isUnknown ? 'unknown' : 'none';
}
