import type { EventOf } from '../ledger/event.ts';
import type { ToolResult } from '../ledger/tool-result.ts';

export type ResultDraft = Omit<EventOf<'tool_result'>, 'v' | 'seq' | 'id' | 'at'>;

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
      | 'fallback'
      | 'toolVersion']?: ResultDraft[Key] | undefined;
  },
): ResultDraft {
  const { settled, durationMs, toolVersion, effect, late, retryAfterMs } = more;
  const { next, editedArgs, notes, fallback } = more;
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
    ...(toolVersion === undefined ? {} : { toolVersion }),
    ...(effect === undefined ? {} : { effect }),
    ...(late === undefined ? {} : { late }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(next === undefined ? {} : { next }),
    ...(editedArgs === undefined ? {} : { editedArgs }),
    ...(notes === undefined || notes.length === 0 ? {} : { notes }),
    ...(fallback === undefined ? {} : { fallback }),
  };
}
