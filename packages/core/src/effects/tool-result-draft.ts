import type { JsonValue } from '../base/json.ts';
import type { EventOf } from '../ledger/event.ts';
import type { ToolEffect, ToolResult } from '../ledger/tool-result.ts';
import type { CallState } from '../loop/call-state.ts';
import type { SupervisedResult } from './tool-ports.ts';

type ResultDraft = Omit<EventOf<'tool_result'>, 'v' | 'seq' | 'id' | 'at'>;

export function resultDraft(
  call: Pick<EventOf<'tool_call'>, 'callId' | 'name'>,
  path: string,
  attempt: number,
  result: ToolResult,
  more: Pick<ResultDraft, 'settled' | 'durationMs'> & {
    readonly [Key in
      | 'effect'
      | 'late'
      | 'retryAfterMs'
      | 'next'
      | 'editedArgs'
      | 'notes'
      | 'fallback']?: ResultDraft[Key] | undefined;
  },
): ResultDraft {
  const { settled, durationMs, effect, late, retryAfterMs, next, editedArgs, notes, fallback } =
    more;
  return {
    type: 'tool_result',
    by: `tool:${call.name}`,
    invocationId: path,
    callId: call.callId,
    name: call.name,
    attempt,
    result,
    settled,
    durationMs: Math.round(durationMs * 100) / 100,
    ...(effect === undefined ? {} : { effect }),
    ...(late === undefined ? {} : { late }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(next === undefined ? {} : { next }),
    ...(editedArgs === undefined ? {} : { editedArgs }),
    ...(notes === undefined || notes.length === 0 ? {} : { notes }),
    ...(fallback === undefined ? {} : { fallback }),
  };
}

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

/** Known effect of the attempts made so far: none, unless one of them left it unknown. */
export function knownEffect(state: CallState): ToolEffect {
  return state.attempts.some(({ result }) => result?.effect === 'unknown') ? 'unknown' : 'none';
}
