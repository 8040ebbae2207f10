import { type Event, type EventOf, type Fold, foldEvent, unchanged } from '../ledger/event.ts';
import { isLateNews } from '../ledger/late-news.ts';
import { parentOf, slotOf } from '../ledger/path.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import { addText, beginAnswer, reopenAnswer } from './position/answer.ts';
import { addAttempt, addCall, addRequest, addResult, answerRequest } from './position/calls.ts';
import { beginChild, endChild } from './position/children.ts';
import { endByResult, reopenEnding } from './position/ending.ts';
import { addLimitRequest, addUse, answerLimitRequest } from './position/limits.ts';
import { beginCall, endCall, opensRound, reopenModel, repeatFailedCall } from './position/model.ts';
import { compact } from './position/prompt.ts';
import { steer } from './position/steer.ts';
import { addEvidence, endStreak, forgetVetoes } from './position/supervision.ts';
import { addMessage, beginTurn } from './position/turn.ts';
import { type Position, startPosition } from './position.ts';

function onToolResult(position: Position, event: EventOf<'tool_result'>): Position {
  const { turn, calls, limits, ending, supervision } = position;
  // The model has already read that the call was released.
  if (isLateNews(event)) turn.unseen++;
  if (event.late === true || !calls.byId.has(event.callId)) return position;
  if (!isSuccess(event.result) && event.attempt > 0) limits.errors++;
  const settled = addResult(calls, event);
  if (settled === undefined) return position;
  endByResult(ending, event);
  addEvidence(supervision, settled, event, turn.number);
  return position;
}

function onChildEnd(position: Position, event: EventOf<'invocation_end'>): Position {
  const { children, calls, turn } = position;
  if (!endChild(children, event)) return position;
  const call = calls.byId.get(parentOf(event.invocationId));
  // A call that is still running may itself have waited for the child.
  if (call === undefined || call.settled !== undefined) turn.unseen++;
  return position;
}

function onReopen(position: Position): Position {
  const { model, answer, prompt, ending, supervision, turn } = position;
  // The last call is repeated, and limits are checked anew.
  reopenModel(model);
  reopenAnswer(answer);
  reopenEnding(ending);
  forgetVetoes(supervision);
  prompt.overflows = 0;
  turn.isDue = true;
  return position;
}

function onDecision(position: Position, event: EventOf<'decision'>): Position {
  if (event.tell !== undefined) position.turn.unseen++;
  position.ending.failure ??= event.data?.failure;
  steer(position, event);
  return position;
}

/** Folds the events that concern an agent invocation into its position. */
export const positionFold: Fold<Position> = {
  user: (position) => {
    addMessage(position.turn);
    endStreak(position.supervision);
    return position;
  },
  assistant: (position, event) => {
    addText(position.answer, event);
    return position;
  },
  thought: unchanged,
  tool_call: (position, event) => {
    addCall(position.calls, event);
    return position;
  },
  tool_attempt: (position, event) => {
    addAttempt(position.calls, event);
    return position;
  },
  tool_result: onToolResult,
  tool_yield: (position, event) => {
    if (event.kind === 'limit') addLimitRequest(position.limits, event);
    else addRequest(position.calls, event);
    return position;
  },
  tool_input: (position, event) => {
    if (!answerLimitRequest(position.limits, event)) answerRequest(position.calls, event);
    return position;
  },
  state_change: unchanged,
  invocation_start: (position, event) => {
    beginChild(position.children, event);
    return position;
  },
  invocation_yield: unchanged,
  invocation_resume: unchanged,
  invocation_end: onChildEnd,
  invocation_reopen: onReopen,
  model_start: (position, event) => {
    const { model, calls, turn, answer } = position;
    if (opensRound(model, event)) calls.byId.clear();
    beginCall(model, event);
    beginTurn(turn);
    beginAnswer(answer);
    return position;
  },
  model_end: (position, event) => {
    endCall(position.model, event);
    addUse(position.limits, event);
    if (event.status === 'completed') position.prompt.overflows = 0;
    return position;
  },
  handoff: unchanged,
  decision: onDecision,
  compaction: (position, event) => {
    compact(position.prompt, event);
    if (event.reason === 'overflow') repeatFailedCall(position.model);
    return position;
  },
  memory: unchanged,
  artifact: unchanged,
  plan: unchanged,
  plan_update: unchanged,
  error: unchanged,
  cancel: unchanged,
};

/** True when an event concerns the agent invocation at `position`. */
export function concerns(position: Position, event: Event): boolean {
  if (event.invocationId === position.path)
    return event.type !== 'invocation_start' && event.type !== 'invocation_end';
  switch (event.type) {
    case 'user':
      return position.isRoot && event.invocationId === undefined;
    case 'invocation_start':
      return (
        event.mode === 'spawn' &&
        event.invocationId.startsWith(`${position.path}/r`) &&
        event.invocationId.split('/').length === position.path.split('/').length + 2
      );
    case 'invocation_end':
      return position.children.open.has(slotOf(event.invocationId));
    default:
      return false;
  }
}

/**
 * Returns the position after all these events of the ledger.
 * @param whole replaces references by the large values that they stand for
 */
export function foldPosition(
  path: string,
  events: readonly Event[],
  whole: (event: Event) => Event = (event) => event,
): Position {
  const position = startPosition(path);
  for (const event of events)
    if (concerns(position, event)) foldEvent(positionFold, position, whole(event));
  return position;
}
