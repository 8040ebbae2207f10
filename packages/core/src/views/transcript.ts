import type { Event } from '../ledger/event.ts';
import { isSuccess, type ToolResult } from '../ledger/tool-result.ts';

/** One entry of a conversation as people read it. */
export type TranscriptEntry =
  | { readonly kind: 'user'; readonly seq: number; readonly text: string }
  | { readonly kind: 'assistant' | 'thought'; readonly seq: number; readonly agent: string; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly seq: number;
      readonly agent: string;
      readonly name: string;
      readonly args: unknown;
      /** The arguments that a person put in their place before the call was run. */
      readonly editedArgs?: unknown;
      /** Missing while the call has no result. */
      readonly result: ToolResult | undefined;
      readonly success: boolean;
      readonly durationMs: number | undefined;
    }
  | { readonly kind: 'end'; readonly seq: number; readonly name: string; readonly status: string; readonly message: string | undefined };

/** A ledger as a conversation: messages, thoughts, tool calls with their results, and runs that did not end well. */
export function transcript(events: readonly Event[], resolve: (value: unknown) => unknown = (value) => value): readonly TranscriptEntry[] {
  const results = new Map(events.flatMap((event) => (event.type === 'tool_result' && event.settled ? [[event.callId, event] as const] : [])));
  const names = new Map(events.flatMap((event) => (event.type === 'invocation_start' ? [[event.invocationId, event.name] as const] : [])));
  return events.flatMap((event): readonly TranscriptEntry[] => {
    switch (event.type) {
      case 'user':
        return [{ kind: 'user', seq: event.seq, text: String(resolve(event.text)) }];
      case 'assistant':
      case 'thought':
        return [{ kind: event.type, seq: event.seq, agent: event.agent, text: String(resolve(event.text)) }];
      case 'tool_call': {
        const settled = results.get(event.callId);
        const result = settled === undefined ? undefined : { ...settled.result, content: resolve(settled.result.content) as ToolResult['content'] };
        const success = result !== undefined && isSuccess(result);
        return [
          {
            kind: 'tool',
            seq: event.seq,
            agent: event.agent,
            name: event.name,
            args: resolve(event.args),
            ...(settled?.editedArgs === undefined ? {} : { editedArgs: resolve(settled.editedArgs) }),
            result,
            success,
            durationMs: settled?.durationMs,
          },
        ];
      }
      case 'invocation_end':
        if (event.status === 'completed' || event.status === 'transferred') return [];
        return [
          {
            kind: 'end',
            seq: event.seq,
            name: names.get(event.invocationId) ?? event.invocationId,
            status: event.status,
            message: event.error?.message,
          },
        ];
      default:
        return [];
    }
  });
}
