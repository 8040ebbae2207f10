import { defined } from '../base/defined.ts';
import type { Event, EventOf } from '../ledger/event.ts';
import { isMessage, takenText } from '../ledger/folds/taken-message.ts';
import { isSuccess, type ToolResult } from '../ledger/tool-result.ts';

/** One entry of a conversation as people read it. */
export type TranscriptEntry =
  | { readonly kind: 'user'; readonly seq: number; readonly text: string }
  | {
      readonly kind: 'assistant' | 'thought';
      readonly seq: number;
      readonly agent: string;
      readonly text: string;
    }
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
      /** Version of the tool that ran; missing when it has none. */
      readonly version?: string;
    }
  | {
      readonly kind: 'end';
      readonly seq: number;
      readonly name: string;
      readonly status: string;
      readonly message: string | undefined;
    };

/**
 * A ledger as a conversation: messages, thoughts, tool calls with their results, and runs that did
 * not end well.
 */
export function transcript(
  events: readonly Event[],
  resolve: (value: unknown) => unknown = (value) => value,
): readonly TranscriptEntry[] {
  return [...transcriptEntries(events, resolve)];
}

/**
 * As `transcript`, one entry after the other: for whoever wants to do something else in between,
 * because the ledger is long.
 */
export function* transcriptEntries(
  events: readonly Event[],
  resolve: (value: unknown) => unknown = (value) => value,
): Generator<TranscriptEntry, void, undefined> {
  const results = new Map<string, EventOf<'tool_result'>>();
  const names = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'tool_result' && event.settled) results.set(event.callId, event);
    else if (event.type === 'invocation_start') names.set(event.invocationId, event.name);
  }
  const shown = withEditedMessages(events);
  for (const event of shown) {
    const entry = entryOf(event, { results, names, resolve });
    if (entry !== undefined) yield entry;
  }
}

/** Returns the events with messages that a fork has edited in the places of the original ones. */
function withEditedMessages(events: readonly Event[]): readonly Event[] {
  const edited = new Map<string, Event>();
  for (const event of events)
    if (event.type === 'user' && event.replaces !== undefined) edited.set(event.replaces, event);
  if (edited.size === 0) return events;
  const ids = new Set(events.map(({ id }) => id));
  return events.flatMap((event): readonly Event[] => {
    if (event.type === 'user' && ids.has(event.replaces ?? '')) return [];
    let last = edited.get(event.id);
    while (last !== undefined && edited.has(last.id)) last = edited.get(last.id);
    return [last ?? event];
  });
}

interface Known {
  readonly results: ReadonlyMap<string, EventOf<'tool_result'>>;
  readonly names: ReadonlyMap<string, string>;
  readonly resolve: (value: unknown) => unknown;
}

function entryOf(event: Event, { results, names, resolve }: Known): TranscriptEntry | undefined {
  switch (event.type) {
    case 'user':
    case 'tool_input':
      return isMessage(event)
        ? { kind: 'user', seq: event.seq, text: String(resolve(takenText(event))) }
        : undefined;
    case 'assistant':
    case 'thought':
      return {
        kind: event.type,
        seq: event.seq,
        agent: event.agent,
        text: String(resolve(event.text)),
      };
    case 'tool_call':
      return callEntry(event, results.get(event.callId), resolve);
    case 'invocation_end': {
      const { seq, status, invocationId, error } = event;
      if (status === 'completed' || status === 'transferred') return undefined;
      return {
        kind: 'end',
        seq,
        name: names.get(invocationId) ?? invocationId,
        status,
        message: error?.message,
      };
    }
    default:
      return undefined;
  }
}

function callEntry(
  { seq, agent, name, args }: EventOf<'tool_call'>,
  settled: EventOf<'tool_result'> | undefined,
  resolve: (value: unknown) => unknown,
): TranscriptEntry {
  const result =
    settled === undefined
      ? undefined
      : { ...settled.result, content: resolve(settled.result.content) as ToolResult['content'] };
  return {
    kind: 'tool',
    seq,
    agent,
    name,
    args: resolve(args),
    ...(settled?.editedArgs === undefined ? {} : { editedArgs: resolve(settled.editedArgs) }),
    result,
    success: result !== undefined && isSuccess(result),
    durationMs: settled?.durationMs,
    ...defined({ version: settled?.toolVersion }),
  };
}
