import type { ErrorRecord } from '../base/error.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
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
import { isSuccess } from '../ledger/tool-result.ts';
import { type CallEvidence, isVeto, mostEvidence } from '../supervision/evidence.ts';
import type { LimitState } from '../supervision/limits.ts';

/** One execution of a tool. */
export interface AttemptState {
  readonly attempt: number;
  readonly key: string;
  readonly seq: number;
  /** Epoch milliseconds at which it is given up. */
  readonly deadline: number | undefined;
  /** That of the owner that made it. */
  readonly epoch: number;
  /** The tool that stood in for the one that was asked for. */
  readonly tool?: string | undefined;
  /** Missing while it runs, or when the process died. */
  result: EventOf<'tool_result'> | undefined;
}

/** A question that was answered. */
export interface AnsweredRequest {
  readonly request: EventOf<'tool_yield'>;
  readonly answer: EventOf<'tool_input'>;
}

/** One tool call of the open round. */
export interface CallState {
  /**
   * Names the call among what is in flight. Made once: it is looked up whenever it is asked what is
   * to be done.
   */
  readonly key: string;
  readonly call: EventOf<'tool_call'>;
  readonly attempts: AttemptState[];
  settled: EventOf<'tool_result'> | undefined;
  /** The question that waits for an answer. */
  pending: EventOf<'tool_yield'> | undefined;
  /** Questions with their answers, one of a kind, in the order in which they were answered. */
  answered: readonly AnsweredRequest[];
  /** How many questions were asked about it. */
  generation: number;
  /** The tool that the next attempt is made with, when it is not the one that was asked for. */
  fallback: string | undefined;
}

/** Rounds in which the loop detector did not let a call through. */
export interface Vetoes {
  /** The last such round. */
  round: number;
  /** How many of them have followed each other, up to the last one. */
  streak: number;
  total: number;
}

/** The last question about a limit of the agent. */
export interface LimitRequest {
  readonly request: EventOf<'tool_yield'>;
  answer: EventOf<'tool_input'> | undefined;
}

/** Where an agent invocation stands: folded from its events, changed in place by the fold. */
export interface Position {
  readonly path: string;
  /** Whether messages that belong to no invocation are for this agent. */
  readonly isRoot: boolean;
  /** Rounds whose model call has been answered. */
  rounds: number;
  /** The last model call: whether it is still without an end, and how it ended. */
  model: { readonly start: EventOf<'model_start'>; end: ModelEndEvent | undefined } | undefined;
  /** Attempts of the present round's model call that ended as errors. */
  modelErrors: number;
  /** Texts of the last answer, joined. */
  text: string;
  /**
   * The last text that was not empty, of whatever round: all that there is when a limit cuts the
   * answer off.
   */
  lastText: string;
  readonly calls: Map<string, CallState>;
  unsettled: number;
  tokens: number;
  cost: number;
  /** The runnable that a tool handed over to. */
  next: NextInvocation | undefined;
  /** Messages, endings of spawned children and late results that no prompt has had yet. */
  unseen: number;
  readonly openSpawns: Set<string>;
  /** The limit that was declared exhausted: from then on the model only answers. */
  stopReason: StopReason | undefined;
  readonly warned: Set<string>;
  /** What was asked when a limit was reached. */
  limitRequest: LimitRequest | undefined;
  /** How many questions about limits were asked. */
  limitRequests: number;
  /** What people allowed beyond the limits, by reason. */
  readonly granted: Map<StopReason, number>;
  /**
   * Counts messages from outside as the model comes to read them: each may be reason to do again
   * what led nowhere before.
   */
  turn: number;
  /** Whether the next model call opens a turn: something came from outside since the last one. */
  opensTurn: boolean;
  /** The last settled calls of this invocation, oldest first. */
  readonly evidence: CallEvidence[];
  vetoes: Vetoes;
  /** Failed attempts of tools and of model calls. */
  errors: number;
  /** What the invocation is to end with. */
  failure: ErrorRecord | undefined;
  /** What a guardrail says in the place of an answer. */
  refusal: string | undefined;
  /** A tool result that is the answer as it stands. */
  final: { readonly output: JsonValue } | undefined;
  /** The last answer as the output schema reads it. */
  parsed: JsonValue | undefined;
  /**
   * Whether the last answer does not fit the output schema: it is no answer, and another is asked
   * for.
   */
  isUnfit: boolean;
  /** Answers that did not fit the output schema, and answers that did not do what was asked. */
  repairs: number;
  goalRounds: number;
  /** The step of the agent's models that is in use: 0 is the first model as it was given. */
  rung: number;
  compactions: number;
  /** Recoveries from prompts that the provider refused as too long, since its last answer. */
  overflows: number;
  /** Longest tool result in characters, when results were shortened. */
  resultLimit: number | undefined;
}

export function startPosition(path: string): Position {
  return {
    path,
    isRoot: !path.includes('/'),
    rounds: 0,
    model: undefined,
    modelErrors: 0,
    text: '',
    lastText: '',
    calls: new Map(),
    unsettled: 0,
    tokens: 0,
    cost: 0,
    next: undefined,
    unseen: 0,
    openSpawns: new Set(),
    stopReason: undefined,
    warned: new Set(),
    limitRequest: undefined,
    limitRequests: 0,
    granted: new Map(),
    turn: 0,
    opensTurn: false,
    evidence: [],
    vetoes: { round: 0, streak: 0, total: 0 },
    errors: 0,
    failure: undefined,
    refusal: undefined,
    final: undefined,
    parsed: undefined,
    isUnfit: false,
    repairs: 0,
    goalRounds: 0,
    rung: 0,
    compactions: 0,
    overflows: 0,
    resultLimit: undefined,
  };
}

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
  // What is asked again has not been answered.
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

/** Without a number as much again is allowed as the limit was. */
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
  // The model has read that the call was given up.
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

/** A question that was taken back was never asked. */
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

/** What was decided about an answer, or in the place of one. */
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
    // The next model has all of its own attempts, and is asked what the former one has refused for
    // good.
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
 * What came in ends the agent with a refusal in the place of an answer; an answer that went out was
 * replaced by one.
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
  // The prompt that was refused is not the next one.
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
    // A child that hands over goes on in its slot.
    if (event.next !== undefined || !position.openSpawns.delete(slotOf(event.invocationId)))
      return position;
    const callId = event.invocationId.slice(0, event.invocationId.lastIndexOf('/'));
    // A call that is still running may have waited for the child itself.
    if (position.calls.get(callId)?.settled !== undefined || !position.calls.has(callId))
      position.unseen++;
    return position;
  },
  invocation_reopen: (position) => {
    // What ended it does not count any more: the last call is made again, and limits are looked at
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

/** The slot of an invocation: its path without hand-overs. */
function slotOf(path: string): string {
  return path.replace(/>[^/]*$/, '');
}

/** Whether an event concerns the agent invocation at `position`. */
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
 * The position after all these events of the ledger.
 * @param whole puts large values in the place of their references
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
