import type { ErrorRecord } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import {
  type Event,
  type EventOf,
  type Fold,
  foldEvent,
  type ModelEndEvent,
  type NextInvocation,
  type StopReason,
  unchanged,
} from '../ledger/event.ts';
import { isLateNews } from '../ledger/late-news.ts';
import { parentOf, slotOf } from '../ledger/path.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import { type CallEvidence, isVeto, mostEvidence } from '../supervision/evidence.ts';
import type { LimitState } from '../supervision/limits.ts';
import type { AnsweredRequest, CallState } from './call-state.ts';
import { type Position, startPosition } from './position.ts';

const noAnswers: readonly AnsweredRequest[] = Object.freeze([]);

function onYield(position: Position, event: EventOf<'tool_yield'>): Position {
  if (event.kind === 'limit') {
    position.limitRequest = { request: event, answer: undefined };
    position.limitRequests = event.generation;
    return position;
  }
  const state = position.calls.get(event.callId);
  if (state === undefined) return position;
  state.pending = event;
  state.generation = event.generation;
  // A request that is made again has not been answered.
  state.answered = state.answered.filter(({ request }) => request.kind !== event.kind);
  return position;
}

function onInput(position: Position, event: EventOf<'tool_input'>): Position {
  const { limitRequest } = position;
  if (limitRequest?.request.requestId === event.requestId) {
    limitRequest.answer = event;
    if (event.decision === 'continue') grant(position, limitRequest.request, event);
    return position;
  }
  const state = position.calls.get(event.callId);
  if (state?.pending?.requestId !== event.requestId) return position;
  state.answered = [...state.answered, { request: state.pending, answer: event }];
  state.pending = undefined;
  return position;
}

/**
 * Records a grant beyond a limit; without a number the amount of the limit itself is granted again.
 */
function grant(
  { granted }: Position,
  { request }: EventOf<'tool_yield'>,
  { input }: EventOf<'tool_input'>,
): void {
  const { reason, limit, of } = request.details as unknown as LimitState;
  if (of === 'run') return;
  const more = typeof input === 'number' ? input : limit;
  granted.set(reason, (granted.get(reason) ?? 0) + more);
}

function onModelEnd(position: Position, event: ModelEndEvent): Position {
  if (position.model !== undefined) position.model.end = event;
  position.tokens += event.usage.inputTokens + event.usage.outputTokens;
  position.cost += event.cost ?? 0;
  if (event.status === 'completed') {
    position.rounds = event.round;
    position.modelErrors = 0;
    position.overflows = 0;
  } else if (event.status === 'error') {
    position.modelErrors++;
    position.errors++;
  }
  return position;
}

function onToolResult(position: Position, event: EventOf<'tool_result'>): Position {
  // The model has already read that the call was released.
  if (isLateNews(event)) position.unseen++;
  const state = position.calls.get(event.callId);
  if (state === undefined || event.late === true) return position;
  const attempt = state.attempts.find((candidate) => candidate.attempt === event.attempt);
  if (attempt !== undefined) attempt.result = event;
  if (event.fallback !== undefined) state.fallback = event.fallback;
  if (!isSuccess(event.result) && event.attempt > 0) position.errors++;
  if (event.settled && state.settled === undefined) {
    state.settled = event;
    state.pending = undefined;
    position.unsettled--;
    position.next ??= event.next;
    if (event.result.final === true && isSuccess(event.result))
      position.final ??= { output: event.result.content };
    keepEvidence(position, state, event);
  }
  return position;
}

function keepEvidence(
  position: Position,
  { call }: CallState,
  { result, name }: EventOf<'tool_result'>,
): void {
  const { evidence, vetoes, turn } = position;
  if (isVeto(result)) {
    vetoes.total++;
    if (call.round !== vetoes.round)
      vetoes.streak = vetoes.round === call.round - 1 ? vetoes.streak + 1 : 1;
    vetoes.round = call.round;
    return;
  }
  const { round, index } = call;
  let place = evidence.length;
  for (; place > 0; place--) {
    const before = evidence[place - 1] as CallEvidence;
    if (before.round !== round || (before.index ?? 0) < index) break;
  }
  evidence.splice(place, 0, { name, args: call.args, result, turn, round, index });
  if (evidence.length > mostEvidence) evidence.shift();
}

/** Removes a withdrawn request as if it had never been made. */
function withdraw(position: Position, requestId: string): void {
  for (const state of position.calls.values())
    if (state.pending?.requestId === requestId) state.pending = undefined;
  if (position.limitRequest?.request.requestId === requestId) position.limitRequest = undefined;
}

function onDecision(position: Position, event: EventOf<'decision'>): Position {
  if (event.component === 'spawn' && event.decision === 'detach')
    position.openSpawns.delete(String(event.data?.['path']));
  if (event.component === 'request' && event.decision === 'withdraw')
    withdraw(position, String(event.data?.['requestId']));
  if (event.tell !== undefined) position.unseen++;
  const failure = event.data?.['failure'];
  if (failure !== undefined) position.failure ??= failure as unknown as ErrorRecord;
  onAnswerDecision(position, event);
  if (event.component !== 'limits') return position;
  const reason = event.data?.['reason'] as StopReason | undefined;
  if (event.decision === 'exhausted' && reason !== undefined) position.stopReason ??= reason;
  if (event.decision === 'warn' && reason !== undefined && event.data?.['of'] !== 'run')
    position.warned.add(reason);
  return position;
}

/** Folds a decision about an answer, or one that replaces an answer. */
function onAnswerDecision(
  position: Position,
  { component, decision, data }: EventOf<'decision'>,
): void {
  if (component === 'output') {
    position.isUnfit = true;
    if (decision === 'repair') position.repairs++;
  }
  if (component === 'goal' && decision === 'again') position.goalRounds++;
  if (component === 'goal' && decision === 'unmet') position.stopReason ??= 'goal_unmet';
  if (component === 'models' && decision === 'fallback') {
    position.rung = Number(data?.['rung']);
    // The next model has all of its own attempts. It repeats the call that the former one refused
    // for good.
    position.modelErrors = 0;
    position.overflows = 0;
    const { model } = position;
    if (model?.end?.status === 'error' && model.end.retryAfterMs === undefined)
      model.end = { ...model.end, status: 'interrupted' };
  }
  if (component === 'guardrail' && decision === 'deny') onRefusal(position, data ?? {});
  if (component !== 'hooks') return;
  if (decision === 'transfer') position.next ??= data?.['next'] as unknown as NextInvocation;
  if (decision === 'continue') position.unseen++;
}

/**
 * Folds the denial of a guardrail. A denied input or model call ends the agent with a refusal. A
 * denied output was replaced by a refusal.
 */
function onRefusal(position: Position, { point, message }: JsonObject): void {
  if (point === 'output') position.stopReason ??= 'refused';
  if (point === 'input' || point === 'modelCall') position.refusal ??= String(message);
}

function onCompaction(
  position: Position,
  { reason, resultLimit }: EventOf<'compaction'>,
): Position {
  position.compactions++;
  if (resultLimit !== undefined) position.resultLimit = resultLimit;
  if (reason !== 'overflow') return position;
  position.overflows++;
  // The next prompt differs from the refused one, so the call is repeated.
  const { model } = position;
  if (model?.end !== undefined && model.end.status === 'error')
    model.end = { ...model.end, status: 'interrupted' };
  return position;
}

/** Folds the events that concern an agent invocation into its position. */
export const positionFold: Fold<Position> = {
  user: (position) => {
    position.unseen++;
    position.opensTurn = true;
    position.vetoes = { ...position.vetoes, streak: 0 };
    return position;
  },
  assistant: (position, event) => {
    if (event.output !== undefined) position.parsed = event.output;
    position.text += event.text;
    position.lastText = position.text;
    return position;
  },
  thought: unchanged,
  tool_call: (position, event) => {
    position.calls.set(event.callId, {
      key: `tool:${event.callId}`,
      call: event,
      attempts: [],
      settled: undefined,
      pending: undefined,
      answered: noAnswers,
      generation: 0,
      fallback: undefined,
    });
    position.unsettled++;
    return position;
  },
  tool_attempt: (position, event) => {
    const { attempt, key, seq, deadline, epoch, tool } = event;
    position.calls
      .get(event.callId)
      ?.attempts.push({ attempt, key, seq, deadline, epoch, tool, result: undefined });
    return position;
  },
  tool_result: onToolResult,
  tool_yield: onYield,
  tool_input: onInput,
  state_change: unchanged,
  invocation_start: (position, event) => {
    if (event.mode === 'spawn') position.openSpawns.add(event.invocationId);
    return position;
  },
  invocation_yield: unchanged,
  invocation_resume: unchanged,
  invocation_end: (position, event) => {
    // A child that ends in a handoff continues in its slot.
    if (event.next !== undefined || !position.openSpawns.delete(slotOf(event.invocationId)))
      return position;
    const callId = parentOf(event.invocationId);
    // A call that is still running may itself have waited for the child.
    if (position.calls.get(callId)?.settled !== undefined || !position.calls.has(callId))
      position.unseen++;
    return position;
  },
  invocation_reopen: (position) => {
    // The cause of the end no longer counts: the last call is repeated, and limits are checked
    // anew.
    const { model } = position;
    if (model?.end !== undefined && model.end.status !== 'completed')
      model.end = { ...model.end, status: 'interrupted' };
    position.modelErrors = 0;
    position.stopReason = undefined;
    position.failure = undefined;
    position.refusal = undefined;
    position.repairs = 0;
    position.goalRounds = 0;
    position.overflows = 0;
    position.vetoes = { round: 0, streak: 0, total: 0 };
    position.opensTurn = true;
    return position;
  },
  model_start: (position, event) => {
    if (event.round !== position.model?.start.round) {
      position.calls.clear();
      position.modelErrors = 0;
    }
    if (position.opensTurn) position.turn++;
    position.opensTurn = false;
    position.model = { start: event, end: undefined };
    position.text = '';
    position.parsed = undefined;
    position.isUnfit = false;
    position.unseen = 0;
    return position;
  },
  model_end: onModelEnd,
  handoff: unchanged,
  decision: onDecision,
  compaction: onCompaction,
  memory: unchanged,
  artifact: unchanged,
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
      return position.openSpawns.has(slotOf(event.invocationId));
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
