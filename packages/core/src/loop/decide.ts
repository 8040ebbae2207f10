import type { JsonValue } from '../base/json.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import type { Hold, ResolvedLimits } from '../runnables/agent.ts';
import { argsKey, evidenceKey } from '../supervision/evidence.ts';
import { accountOf } from './account.ts';
import type { CallState } from './call-state.ts';
import { type BudgetView, judgeLimits, warningBefore } from './decide-limits.ts';
import type { Intent } from './intent.ts';
import type { ModelState } from './position/model.ts';
import type { Position } from './position.ts';

/** Settings of an agent and the budget of its run, as `decide` reads them. */
export interface Frame {
  readonly limits: ResolvedLimits;
  readonly toolConcurrency: number;
  readonly hold: Hold;
  /** Times that a prompt is made shorter after the provider refused it. Then the agent fails. */
  readonly recoveries: number;
  /**
   * Reaction when the agent repeats calls that the loop detector refused. `undefined`: the loop
   * detector is off.
   */
  readonly onLoop: 'answer' | 'fail' | undefined;
  /** Budget that the agent shares with other invocations. */
  readonly budget: BudgetView;
}

/**
 * Number of consecutive rounds with refused calls at which a loop is declared. The last of them was
 * the agent's chance to recover.
 */
const mostVetoedRounds = 2;
/** Number of refused calls in all rounds together at which a loop is declared. */
const mostVetoes = 8;

const waiting: readonly Intent[] = [Object.freeze({ type: 'wait' as const })];

/**
 * Returns the next intents for a position and the keys of the work in flight. Pure: the same
 * arguments give the same intents. Called again after every event that concerns the agent.
 */
export function decide(
  position: Position,
  inFlight: ReadonlySet<string>,
  frame: Frame,
): readonly Intent[] {
  if (position.calls.unsettled > 0) return decideCalls(position, inFlight, frame);
  const { ending, children } = position;
  const { call } = position.model;
  if (call !== undefined && call.end === undefined) {
    const key = modelKey(call.start.round, call.start.attempt);
    return inFlight.has(key) ? waiting : [{ type: 'close_model', key: `close:${key}` }];
  }
  if (ending.failure !== undefined)
    return [{ type: 'fail', error: ending.failure, stopReason: ending.stopReason }];
  if (ending.refusal !== undefined)
    return [{ type: 'finish', output: ending.refusal, stopReason: 'refused' }];
  if (call?.end !== undefined && call.end.status !== 'completed')
    return decideRepeat(position, inFlight, frame);
  const { next, result, stopReason } = ending;
  if (next !== undefined && children.open.size > 0) return waiting;
  if (next !== undefined) return [{ type: 'transfer', next }];
  if (result !== undefined && children.open.size > 0) return waiting;
  if (result !== undefined) return [{ type: 'finish', output: result.output, stopReason }];
  if (call !== undefined && position.calls.byId.size === 0)
    return decideAfterAnswer(position, inFlight, frame);
  return nextRound(position, inFlight, frame);
}

function modelKey(round: number, attempt: number): string {
  return `model:${round}.${attempt}`;
}

function decideCalls(
  position: Position,
  inFlight: ReadonlySet<string>,
  frame: Frame,
): readonly Intent[] {
  const intents: Intent[] = [];
  let running = 0;
  for (const key of inFlight) if (key.startsWith('tool:')) running++;
  const isHeld = frame.hold === 'round' && [...position.calls.byId.values()].some(mayNeedAnswer);
  for (const state of position.calls.byId.values()) {
    if (state.settled !== undefined || inFlight.has(state.key)) continue;
    if (isHeld && isReleasedByAnswer(state)) continue;
    const intent = decideCall(state);
    if (intent === undefined) continue;
    if (intent.type === 'tool' && running++ >= frame.toolConcurrency) continue;
    intents.push(intent);
  }
  return intents.length === 0 ? waiting : intents;
}

/**
 * True when a person is asked about the call, or may still be asked. The latter holds before the
 * first attempt, while no request about the call has been answered. A request for a result from
 * elsewhere does not count.
 */
function mayNeedAnswer({ settled, pending, attempts, answered }: CallState): boolean {
  if (settled !== undefined) return false;
  if (pending !== undefined) return pending.kind !== 'result';
  return attempts.length === 0 && answered.length === 0;
}

const neverAttempted: ReadonlySet<string | undefined> = new Set(['reject', 'cancel', 'escalate']);

/** True when an answer to a request allows the first attempt of the call. */
function isReleasedByAnswer({ attempts, answered }: CallState): boolean {
  const last = answered.at(-1);
  return last !== undefined && attempts.length === 0 && !neverAttempted.has(last.answer.decision);
}

/**
 * Returns the intent for a call that is not in flight. The call has not begun, is due for another
 * attempt, or lost its process. `undefined`: the call waits for an answer to its request.
 */
function decideCall(state: CallState): Intent | undefined {
  if (state.pending !== undefined) return undefined;
  const last = state.attempts.at(-1);
  if (last === undefined)
    return { type: 'tool', key: state.key, call: state, attempt: 1, notBefore: undefined };
  const answered = state.answered.find(({ request }) => request.attempt === last.attempt);
  if (last.result === undefined && answered !== undefined)
    return { type: 'resolve_attempt', key: state.key, call: state, attempt: last, answered };
  if (last.result === undefined)
    return { type: 'close_attempt', key: state.key, call: state, attempt: last };
  const { at, retryAfterMs = 0 } = last.result;
  const notBefore = retryAfterMs === 0 ? undefined : at + retryAfterMs;
  return { type: 'tool', key: state.key, call: state, attempt: last.attempt + 1, notBefore };
}

/**
 * Decides what follows a model call that did not complete. The call is repeated when it was
 * interrupted or its end names a retry delay. Otherwise the agent compacts its prompt or ends.
 */
function decideRepeat(
  position: Position,
  inFlight: ReadonlySet<string>,
  frame: Frame,
): readonly Intent[] {
  const { start, end } = position.model.call as NonNullable<ModelState['call']>;
  if (end === undefined) return waiting;
  const retryAfterMs = end.status === 'interrupted' ? 0 : end.retryAfterMs;
  if (
    retryAfterMs === undefined &&
    end.error?.code === 'model_context_overflow' &&
    position.prompt.overflows < frame.recoveries
  ) {
    const key = `compact:${position.prompt.compactions + 1}`;
    return inFlight.has(key) ? waiting : [{ type: 'compact', key }];
  }
  if (retryAfterMs === undefined) {
    // An agent at its error limit still finishes with an account when its last answer fails.
    if (position.ending.stopReason === 'error_limit') return decideSpent(position);
    return [
      {
        type: 'fail',
        error: end.error ?? {
          name: 'ModelError',
          code: 'model_failed',
          message: 'The model call failed.',
        },
        stopReason: position.ending.stopReason,
      },
    ];
  }
  const key = modelKey(start.round, start.attempt + 1);
  if (inFlight.has(key)) return waiting;
  const limited = decideLimits(position, frame);
  if (limited !== undefined) return limited;
  const notBefore = retryAfterMs === 0 ? undefined : end.at + retryAfterMs;
  return [
    {
      type: 'model',
      key,
      round: start.round,
      attempt: start.attempt + 1,
      notBefore,
      final: position.ending.stopReason !== undefined,
    },
  ];
}

/**
 * Decides what follows an answer without tool calls. The invocation finishes, unless a child is
 * running, news is unread or the answer does not fit.
 */
function decideAfterAnswer(
  position: Position,
  inFlight: ReadonlySet<string>,
  frame: Frame,
): readonly Intent[] {
  if (position.children.open.size > 0) return waiting;
  // At a limit, an answer that does not fit the schema is requested once more, like any last
  // answer.
  if (
    position.answer.isUnfit ||
    (position.turn.unseen > 0 && position.ending.stopReason === undefined)
  )
    return nextRound(position, inFlight, frame);
  const cutOff =
    position.model.call?.end?.finishReason === 'length' ? ('output_limit' as const) : undefined;
  return [
    {
      type: 'finish',
      output: answerOf(position),
      stopReason: position.ending.stopReason ?? cutOff,
    },
  ];
}

/**
 * Returns the answer, or as much of it as exists. An agent that reached a limit returns at least an
 * account of its attempts.
 */
function answerOf(position: Position): JsonValue {
  const { parsed, text, lastText } = position.answer;
  const { stopReason } = position.ending;
  if (parsed !== undefined) return parsed;
  if (text !== '') return text;
  return lastText === '' && stopReason !== undefined ? accountOf(position, stopReason) : lastText;
}

function nextRound(
  position: Position,
  inFlight: ReadonlySet<string>,
  frame: Frame,
): readonly Intent[] {
  const key = modelKey(position.model.rounds + 1, 1);
  if (inFlight.has(key)) return waiting;
  const loop =
    position.ending.stopReason === undefined || position.ending.stopReason === 'loop'
      ? endlessLoop(position, frame)
      : undefined;
  if (loop !== undefined && position.ending.stopReason !== undefined) return [loop];
  const limited = decideLimits(position, frame);
  if (limited !== undefined) return limited;
  if (loop !== undefined) return [loop];
  const warning =
    position.ending.stopReason === undefined ? warningBefore(position, frame) : undefined;
  if (warning !== undefined) return [warning];
  return [
    {
      type: 'model',
      key,
      round: position.model.rounds + 1,
      attempt: 1,
      notBefore: undefined,
      final: position.ending.stopReason !== undefined,
    },
  ];
}

/**
 * Returns the intents that the limits require before a model call; `undefined`: the call may be
 * made.
 */
function decideLimits(position: Position, frame: Frame): readonly Intent[] | undefined {
  const verdict = judgeLimits(position, frame);
  if (verdict === undefined) return undefined;
  if (verdict.type === 'intents') return verdict.intents;
  return verdict.type === 'wait' ? waiting : decideSpent(position);
}

/** Finishes with the existing text when no model call is left, not even for a last answer. */
function decideSpent(position: Position): readonly Intent[] {
  if (position.children.open.size > 0) return waiting;
  return [{ type: 'finish', output: answerOf(position), stopReason: position.ending.stopReason }];
}

/** True when the ended round had a call that was new and succeeded. */
function ledSomewhere({ calls, supervision: { evidence } }: Position): boolean {
  for (const { call, settled } of calls.byId.values()) {
    if (settled === undefined || !isSuccess(settled.result)) continue;
    const key = argsKey(call.args);
    if (evidence.filter((one) => one.name === call.name && evidenceKey(one) === key).length === 1)
      return true;
  }
  return false;
}

/**
 * Returns the intent for an agent that repeats refused calls: an answer without tools, or failure.
 */
function endlessLoop(position: Position, { onLoop }: Frame): Intent | undefined {
  const { vetoes } = position.supervision;
  const { stopReason } = position.ending;
  if (onLoop === undefined) return undefined;
  const limit = { reason: 'loop' as const, used: vetoes.streak, limit: mostVetoedRounds };
  if (stopReason === undefined) {
    const isStreak = vetoes.streak >= mostVetoedRounds && !ledSomewhere(position);
    if (!isStreak && vetoes.total < mostVetoes) return undefined;
    return { type: 'declare_limit', key: 'limit:loop', limit, action: onLoop };
  }
  if (onLoop === 'answer') return undefined;
  const message =
    'The agent made calls again and again that led nowhere, also after it was told so.';
  return {
    type: 'fail',
    error: { name: 'LoopError', code: 'loop_detected', message },
    stopReason: 'loop',
  };
}
