import type { JsonValue } from '../base/json.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import {
  argsKey,
  type CallEvidence,
  evidenceKey,
  failuresInARow,
  failureType,
  isEvidence,
  isToolless,
} from './evidence.ts';
import type { LoopDetectionOptions } from './options.ts';
import { tellsTheSame } from './result-key.ts';

/** A call as the loop detector judges it. */
export interface JudgedCall {
  readonly name: string;
  readonly args: JsonValue;
  /** Counts the messages from outside that the model had read when it made the call. */
  readonly turn: number;
  /** True when the agent has a tool of this name. */
  readonly isKnown: boolean;
}

/**
 * The finding that a call is a loop, and the reaction: a note to the model (`warn`), or a refusal
 * (`block`).
 */
export interface LoopVerdict {
  readonly level: 'warn' | 'block';
  readonly detector: 'repeat' | 'poll' | 'ping_pong' | 'unknown_tool' | 'exhausted';
  /** The number of this call among the equal calls, from 1. */
  readonly count: number;
  /** For the model. */
  readonly message: string;
  /** For people. */
  readonly reasoning: string;
  readonly alternatives: readonly string[];
}

/**
 * Decides if a call is made. The first call of its kind after a message from outside always is: the
 * message may be a reason to look again. Pure.
 * @param evidence settled calls of the agent, oldest first
 * @param mayChange true for a tool that may change something outside: its first call may have
 * removed the cause of earlier failures
 * @param isExhausted true when no step is left for the failure of an equal call that failed so
 * often in a row
 */
export function judgeCall(
  evidence: readonly CallEvidence[],
  call: JudgedCall,
  options: Required<LoopDetectionOptions>,
  isExhausted: (last: CallEvidence, failures: number) => boolean,
  mayChange?: (tool: string, errorType: string) => boolean,
): LoopVerdict | undefined {
  if (evidence.length === 0) return undefined;
  const seen = windowOf(evidence, options);
  const equal = equalCalls(seen, call);
  const last = equal[0];
  if (last === undefined || !equal.some(({ turn }) => turn === call.turn)) return undefined;
  const count = equal.length + 1;
  if (isExhaustedCall(seen, call, last, isExhausted, mayChange))
    return verdict('block', 'exhausted', call, count, options, last);
  // Results are long: they are compared only when it matters.
  if (count < Math.min(options.blockAt, options.pollBlockAt)) return undefined;
  const idle = 1 + (call.isKnown ? withResult(equal, last.result) : equal.length);
  if (idle >= options.blockAt)
    return verdict('block', idleDetector(seen, call, idle), call, idle, options, last);
  return count >= options.pollBlockAt
    ? verdict('block', 'poll', call, count, options, last)
    : undefined;
}

/**
 * Decides if the model gets a warning about a repeated call. Pure.
 * @param evidence settled calls of the agent before this one, oldest first
 */
export function judgeResult(
  evidence: readonly CallEvidence[],
  call: JudgedCall,
  result: ToolResult,
  options: Required<LoopDetectionOptions>,
): LoopVerdict | undefined {
  if (evidence.length === 0) return undefined;
  const made: CallEvidence = { name: call.name, args: call.args, result, turn: call.turn };
  if (!isEvidence(made)) return undefined;
  const seen = windowOf(evidence, options);
  const equal = equalCalls(seen, call);
  const count = equal.length + 1;
  if (count === 1 || count < Math.min(options.warnAt, options.pollWarnAt)) return undefined;
  const idle = 1 + (call.isKnown ? withResult(equal, result) : equal.length);
  if (idle > 1 && idle >= options.warnAt)
    return verdict('warn', idleDetector(seen, call, idle), call, idle, options, made);
  return count >= options.pollWarnAt
    ? verdict('warn', 'poll', call, count, options, made)
    : undefined;
}

/**
 * The newest calls that count, together with the one that is judged as many as the window is wide.
 */
function windowOf(
  evidence: readonly CallEvidence[],
  { window }: Required<LoopDetectionOptions>,
): readonly CallEvidence[] {
  return evidence.filter(isEvidence).slice(-window);
}

/**
 * The calls that are the same as `call`, newest first. Calls of an unknown tool are the same with
 * any arguments.
 */
function equalCalls(
  evidence: readonly CallEvidence[],
  { name, args, isKnown }: JudgedCall,
): CallEvidence[] {
  const equal: CallEvidence[] = [];
  let key: string | undefined;
  for (let i = evidence.length - 1; i >= 0; i--) {
    const earlier = evidence[i] as CallEvidence;
    if (earlier.name !== name || isToolless(earlier.result.errorType) === isKnown) continue;
    if (isKnown) {
      key ??= argsKey(args);
      if (evidenceKey(earlier) !== key) continue;
    }
    equal.push(earlier);
  }
  return equal;
}

/** Returns the number of the newest of these calls with this result. */
function withResult(equal: readonly CallEvidence[], result: ToolResult): number {
  const other = equal.findIndex((earlier) => !tellsTheSame(earlier.result, result));
  return other < 0 ? equal.length : other;
}

function isExhaustedCall(
  seen: readonly CallEvidence[],
  call: JudgedCall,
  last: CallEvidence,
  isExhausted: (last: CallEvidence, failures: number) => boolean,
  mayChange: ((tool: string, errorType: string) => boolean) | undefined,
): boolean {
  const { status } = last.result;
  if (status !== 'error_permanent' && status !== 'error_blocked') return false;
  const failures = failuresInARow(seen, call, failureType(last.result) as string, mayChange);
  return failures > 0 && isExhausted(last, failures);
}

function idleDetector(
  seen: readonly CallEvidence[],
  call: JudgedCall,
  count: number,
): LoopVerdict['detector'] {
  if (!call.isKnown) return 'unknown_tool';
  return alternates(seen, call, count - 1) ? 'ping_pong' : 'repeat';
}

/**
 * True when the newest calls were this one and one other by turns, each at least so often and the
 * other always with the same result.
 */
function alternates(seen: readonly CallEvidence[], call: JudgedCall, times: number): boolean {
  const own = `${call.name} ${argsKey(call.args)}`;
  let other: { readonly key: string; readonly result: ToolResult } | undefined;
  let before: string | undefined;
  let [ownTimes, otherTimes] = [0, 0];
  for (let i = seen.length - 1; i >= 0; i--) {
    const earlier = seen[i] as CallEvidence;
    const key = `${earlier.name} ${evidenceKey(earlier)}`;
    if (key === before) break;
    before = key;
    if (key === own) {
      ownTimes++;
      continue;
    }
    other ??= { key, result: earlier.result };
    if (key !== other.key || !tellsTheSame(earlier.result, other.result)) break;
    otherTimes++;
  }
  return ownTimes >= times && otherTimes >= times;
}

function ordinal(count: number): string {
  const ending =
    count % 100 >= 11 && count % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${count}${ending}`;
}

const nothingNew = {
  repeat: 'always with the same result',
  ping_pong: 'by turns with another call, both always with the same results',
  unknown_tool: 'and there is no such tool, whatever its arguments',
  poll: 'with results that change',
} as const;

function verdict(
  level: LoopVerdict['level'],
  detector: LoopVerdict['detector'],
  call: JudgedCall,
  count: number,
  options: Required<LoopDetectionOptions>,
  last: CallEvidence,
): LoopVerdict {
  const { name } = call;
  const alternatives =
    level === 'warn'
      ? ['say nothing', 'refuse the call']
      : ['make the call again', 'warn only', 'end the run'];
  if (detector === 'exhausted') {
    const type = failureType(last.result);
    return {
      level,
      detector,
      count,
      message:
        `Not run: this call of ${name} failed before (${type}), and all that could be done ` +
        'about it was tried. Do not call it again with these arguments: use another way, or ' +
        'answer with what you have and say what could not be found out.',
      reasoning:
        `${name} was called for the ${ordinal(count)} time with the same arguments. Its last ` +
        `result was ${type}, and the chain of strategies for it has no step left.`,
      alternatives,
    };
  }
  const same = detector === 'unknown_tool' ? '' : ' with the same arguments';
  const limits =
    detector === 'poll'
      ? [options.pollWarnAt, options.pollBlockAt]
      : [options.warnAt, options.blockAt];
  const [warnAt, blockAt] = limits as [number, number];
  const reasoning =
    `${name} was called for the ${ordinal(count)} time${same}, ${nothingNew[detector]}. It ` +
    `is warned of from the ${ordinal(warnAt)} such call, and the ${ordinal(blockAt)} is not ` +
    'made any more.';
  if (level === 'block') {
    const message =
      `Not run: this would be the ${ordinal(count)} call of ${name}${same}, ` +
      `${nothingNew[detector]}. Do not make it again: use what you have, find another way, ` +
      'or answer and say what could not be found out.';
    return { level, detector, count, message, reasoning, alternatives };
  }
  const announced = count < blockAt ? ` The ${ordinal(blockAt)} such call will not be made.` : '';
  const message =
    `This was the ${ordinal(count)} call of ${name}${same}, ${nothingNew[detector]}. Calling ` +
    `it again will not help: use what you have, or find another way.${announced}`;
  return { level, detector, count, message, reasoning, alternatives };
}
