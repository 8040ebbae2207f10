import { type Event, type EventOf, isDurable, type StreamEvent } from 'adjutant';
import { defined } from 'adjutant/text';
import type { Folded, Frame, Profile } from '../frame.ts';
import { isRoot, runOf } from '../run-state.ts';
import { type EventHandlers, silent, without } from './event-handlers.ts';

/** An answer that is being given. */
interface OpenMessage {
  readonly id: string;
  readonly agent: string;
  /** Recorded part of its text. */
  readonly text: string;
  /** Text that the reader was sent; `undefined` when that is not known. */
  readonly sent: string | undefined;
}

interface MessagesState {
  /** By invocation: an agent gives one answer at a time. */
  readonly open: Readonly<Record<string, OpenMessage>>;
}

type MessagesFolded = Folded<MessagesState>;

function told(state: MessagesState, ...frames: readonly Frame[]): MessagesFolded {
  return { state, frames };
}

function withMessage(
  state: MessagesState,
  invocationId: string,
  message: OpenMessage,
): MessagesState {
  return { open: { ...state.open, [invocationId]: message } };
}

function startFrame({ id, agent }: Pick<OpenMessage, 'id' | 'agent'>): Frame {
  return { event: 'MESSAGE_START', data: { message_id: id, agent } };
}

function chunkFrame(id: string, text: string): Frame {
  return { event: 'MESSAGE_CHUNK', data: { message_id: id, text } };
}

/**
 * Sends what the reader lacks of a text: the rest, or all of it anew when what it has is something
 * else.
 */
function catchUp(
  message: OpenMessage,
  text: string,
): { readonly message: OpenMessage; readonly frames: readonly Frame[] } {
  const { sent, id } = message;
  const caught = { ...message, sent: text };
  const begun = sent !== undefined && text.startsWith(sent);
  const rest = begun ? text.slice(sent.length) : text;
  const frames = [
    ...(begun ? [] : [startFrame(message)]),
    ...(rest === '' ? [] : [chunkFrame(id, rest)]),
  ];
  return { message: caught, frames: frames.map((frame) => ({ ...frame, isTransient: true })) };
}

function delta(
  state: MessagesState,
  { invocationId, delta: text }: Extract<StreamEvent, { type: 'assistant_delta' }>,
): MessagesFolded {
  const message = state.open[invocationId];
  if (message === undefined) return told(state);
  const caught = catchUp(message, (message.sent ?? '') + text);
  return told(withMessage(state, invocationId, caught.message), ...caught.frames);
}

function reset(state: MessagesState, invocationId: string): MessagesFolded {
  const message = state.open[invocationId];
  if (message === undefined || message.sent === '') return told(state);
  const frame = { ...startFrame(message), isTransient: true };
  return told(withMessage(state, invocationId, { ...message, sent: '' }), frame);
}

function modelStart(
  state: MessagesState,
  { invocationId, agent, attempt, round }: EventOf<'model_start'>,
): MessagesFolded {
  // The message of an attempt that was cut off has ended, and is another one.
  const isNext = attempt > 1 && state.open[invocationId] === undefined;
  const id = `${invocationId}/r${round}${isNext ? `.${attempt}` : ''}`;
  const message = { id, agent, text: '', sent: '' };
  return told(withMessage(state, invocationId, message), startFrame(message));
}

function assistant(state: MessagesState, event: EventOf<'assistant'>): MessagesFolded {
  const { invocationId = '', seq, agent, text, round } = event;
  const message = round === undefined ? undefined : state.open[invocationId];
  if (message === undefined) {
    const id = `${invocationId}/m${seq}`;
    return told(state, startFrame({ id, agent }), chunkFrame(id, text), {
      event: 'MESSAGE_END',
      data: { message_id: id, agent, text },
    });
  }
  // A long text is kept beside the ledger: the end of the message names it.
  const joined = typeof text === 'string' ? message.text + text : text;
  return told(withMessage(state, invocationId, { ...message, text: joined }));
}

function modelEnd(
  state: MessagesState,
  { invocationId, status, retryAfterMs }: EventOf<'model_end'>,
): MessagesFolded {
  const isRepeated = status === 'interrupted' || (status === 'error' && retryAfterMs !== undefined);
  return isRepeated ? told(state) : closed(state, invocationId, status);
}

function closed(state: MessagesState, invocationId: string, status: string): MessagesFolded {
  const message = state.open[invocationId];
  if (message === undefined) return told(state);
  const { id, agent, text } = message;
  const missing =
    typeof text === 'string' && message.sent !== text ? catchUp(message, text).frames : [];
  return told({ open: without(state.open, invocationId) }, ...missing, {
    event: 'MESSAGE_END',
    data: { message_id: id, agent, text, status },
  });
}

function toolResult(
  state: MessagesState,
  { callId, name, result, settled, invocationId = '' }: EventOf<'tool_result'>,
): MessagesFolded {
  // Effects of steps and tools are no calls of an agent.
  if (!settled || !isCallOf(callId, invocationId)) return told(state);
  return told(state, {
    event: 'TOOL_RESULT',
    data: { tool_call_id: callId, tool_name: name, status: result.status, content: result.content },
  });
}

/** True when a call's id is `<invocation>/r<round>.<index>`. */
function isCallOf(callId: string, invocationId: string): boolean {
  return (
    callId.startsWith(`${invocationId}/`) &&
    /^r\d+\.\d+$/.test(callId.slice(invocationId.length + 1))
  );
}

const stateOfKind: Readonly<Record<EventOf<'tool_yield'>['kind'], string | undefined>> = {
  approval: 'WAITING_FOR_APPROVAL',
  repeat: 'WAITING_FOR_APPROVAL',
  recovery: 'WAITING_FOR_APPROVAL',
  limit: 'WAITING_FOR_APPROVAL',
  input: 'WAITING_FOR_INPUT',
  // The agent waits for an operation, not for a person.
  result: undefined,
};

function toolYield(state: MessagesState, event: EventOf<'tool_yield'>): MessagesFolded {
  const { kind, requestId, callId, name, args, request, expiresAt } = event;
  const waiting = stateOfKind[kind];
  if (waiting === undefined) return told(state);
  const { summary, options, agent } = request;
  const about = {
    request_id: requestId,
    kind,
    tool_call_id: callId,
    tool_name: name,
    args,
    agent,
    summary,
    options,
  };
  return told(state, {
    event: 'STATE_CHANGE',
    data: {
      state: waiting,
      ...about,
      ...defined({ expires_at: expiresAt }),
    },
  });
}

function invocationYield(
  state: MessagesState,
  { invocationId, reason }: EventOf<'invocation_yield'>,
): MessagesFolded {
  if (reason !== 'input' || !isRoot(invocationId)) return told(state);
  return told(state, {
    event: 'STATE_CHANGE',
    data: { state: 'WAITING_FOR_INPUT', run_id: runOf(invocationId) },
  });
}

function invocationEnd(state: MessagesState, event: EventOf<'invocation_end'>): MessagesFolded {
  const { invocationId, status, output, error, stopReason, next } = event;
  const end = closed(state, invocationId, status);
  if (!isRoot(invocationId) || next !== undefined) return end;
  const data = {
    run_id: runOf(invocationId),
    status: status === 'transferred' ? 'completed' : status,
    ...defined({ output, error, stop_reason: stopReason }),
  };
  return told(end.state, ...end.frames, { event: 'EXECUTION_END', data });
}

const handlers: EventHandlers<MessagesState> = {
  user: silent,
  assistant,
  thought: silent,
  tool_call: (state, { callId, name, args, agent }) =>
    told(state, {
      event: 'TOOL_CALL_START',
      data: { tool_call_id: callId, tool_name: name, args, agent },
    }),
  tool_attempt: silent,
  tool_result: toolResult,
  tool_yield: toolYield,
  tool_input: silent,
  state_change: silent,
  invocation_start: silent,
  invocation_yield: invocationYield,
  invocation_resume: silent,
  invocation_end: invocationEnd,
  invocation_reopen: silent,
  model_start: modelStart,
  model_end: modelEnd,
  handoff: silent,
  decision: silent,
  compaction: silent,
  memory: silent,
  artifact: silent,
  plan: silent,
  plan_update: silent,
  error: silent,
  cancel: silent,
};

/**
 * Runs as messages. Whoever joins the chunks of a message from its last `MESSAGE_START` on has its
 * whole text at `MESSAGE_END`, wherever the stream was cut.
 */
export const messagesProfile: Profile<MessagesState> = {
  start: { open: {} },
  fold: (state, event) => {
    if (isDurable(event))
      return (handlers[event.type] as (state: MessagesState, event: Event) => MessagesFolded)(
        state,
        event,
      );
    if (event.type === 'assistant_delta') return delta(state, event);
    return event.type === 'stream_reset' ? reset(state, event.invocationId) : told(state);
  },
  resumed: (state) => {
    const open = Object.entries(state.open);
    if (open.length === 0) return state;
    return {
      open: Object.fromEntries(
        open.map(([invocationId, message]) => [invocationId, { ...message, sent: undefined }]),
      ),
    };
  },
};
