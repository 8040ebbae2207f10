import { type EventOf, type Fold, foldEvent, isDurable, type StreamEvent } from 'adjutant';
import { isMessage, takenText } from 'adjutant/ports';
import { isRoot, runOf } from '../run-state.ts';
import { ended } from './answer-end.ts';
import { isChatKey } from './chat-key.ts';
import {
  add,
  type Conversation,
  noConversation,
  settled,
  textOf,
  withSteps,
} from './conversation-state.ts';
import { called, modelEnd, modelStart, wrote } from './model-rounds.ts';
import { dropUnsure } from './placed-part.ts';
import { streamed } from './streamed-parts.ts';
import { answered, asked, resulted } from './tool-requests.ts';

/** Folds one more event of a session. Large values must have been put in. */
export function conversationAfter(state: Conversation, event: StreamEvent): Conversation {
  if (isDurable(event)) {
    // A run in another lane is no part of the chat.
    if (event.type === 'invocation_start' && event.mode === 'root' && isRoot(event.invocationId))
      return event.lane === undefined ? begun(state, event) : state;
    // Another text of an earlier message, which stands before the answer.
    if (event.type === 'user' && event.replaces !== undefined) return state;
    if (event.invocationId === undefined || runOf(event.invocationId) !== state.answer?.run)
      return state;
    return foldEvent(handlers, state, event);
  }
  switch (event.type) {
    case 'assistant_delta':
    case 'thought_delta':
    case 'tool_args_delta':
      return streamed(state, event);
    case 'stream_reset':
      return withSteps(state, (parts) => dropUnsure(parts, event.invocationId));
    case 'tool_progress':
      return state;
  }
}

/**
 * Begins the answer of a new run. A continued run has only one start, and no other run begins under
 * its name.
 */
function begun(state: Conversation, { invocationId }: EventOf<'invocation_start'>): Conversation {
  const run = runOf(invocationId);
  return state.answer?.run === run
    ? state
    : { ...noConversation, answer: { id: run, to: [run], run, steps: [] } };
}

function heard(state: Conversation, event: EventOf<'user'> | EventOf<'tool_input'>): Conversation {
  const { answer } = state;
  if (answer === undefined) return state;
  const { by, clientKey, invocationId = '', id, seq } = event;
  const isTaken = event.type === 'tool_input';
  if (!isTaken && (!isRoot(invocationId) || clientKey === answer.run)) return state;
  if (isChatKey(clientKey))
    return { ...state, next: [...state.next, clientKey], isNextTaken: isTaken };
  // The first input of a run is no part of its answer.
  if (answer.steps.length === 0 || !/^(user|operator|trigger)\b/.test(by)) return state;
  const text = textOf(takenText(event) ?? null);
  return settled(add(state, { kind: 'steering', id, text, order: seq, from: invocationId }));
}

function given(state: Conversation, event: EventOf<'tool_input'>): Conversation {
  const after = answered(state, event);
  return isMessage(event) ? heard(after, event) : after;
}

function same(state: Conversation): Conversation {
  return state;
}

const handlers: Fold<Conversation> = {
  user: heard,
  assistant: wrote,
  thought: wrote,
  tool_call: called,
  tool_attempt: same,
  tool_result: resulted,
  tool_yield: asked,
  tool_input: given,
  state_change: same,
  invocation_start: same,
  invocation_yield: (state, { invocationId, reason }) =>
    isRoot(invocationId) ? { ...state, rest: { type: 'waiting', reason } } : state,
  invocation_resume: (state, { invocationId }) =>
    isRoot(invocationId) ? { ...state, rest: undefined } : state,
  invocation_end: ended,
  invocation_reopen: (state, { invocationId }) =>
    isRoot(invocationId) ? { ...state, rest: undefined } : state,
  model_start: modelStart,
  model_end: modelEnd,
  handoff: same,
  decision: same,
  compaction: same,
  memory: same,
  artifact: same,
  plan: same,
  plan_update: same,
  error: same,
  cancel: same,
};
