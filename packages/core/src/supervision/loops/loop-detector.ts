import type { JsonValue } from '../../base/json.ts';
import { unreadableAction } from '../../ledger/tool-name.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import {
  argsKey,
  type CallEvidence,
  evidenceKey,
  failuresInARow,
  failureType,
  inventedInARow,
  isEvidence,
  isToolless,
} from '../evidence.ts';
import type { LoopDetectionOptions } from '../options.ts';
import { tellsTheSame } from '../result-key.ts';
import { exhausted, type LoopVerdict, repeated, withoutTool } from './loop-verdict.ts';

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
  const isRepeated = last !== undefined && equal.some(({ turn }) => turn === call.turn);
  const count = equal.length + 1;
  if (isRepeated && isExhaustedCall(seen, call, last, isExhausted, mayChange))
    return exhausted(call.name, count, failureType(last.result) as string, call.isKnown);
  if (!call.isKnown)
    return judgeToolless('block', seen, call, isRepeated ? equal.length : 0, options);
  // Results are long: they are compared only when it matters.
  if (!isRepeated || count < Math.min(options.blockAt, options.pollBlockAt)) return undefined;
  const idle = 1 + withResult(equal, last.result);
  if (idle >= options.blockAt)
    return repeated('block', idleDetector(seen, call, idle), call.name, idle, options);
  return count >= options.pollBlockAt
    ? repeated('block', 'poll', call.name, count, pollThresholds(options))
    : undefined;
}

/** Judges a call without a tool by the calls of its name and by all invented names in a row. */
function judgeToolless(
  level: LoopVerdict['level'],
  seen: readonly CallEvidence[],
  { name, turn }: JudgedCall,
  equal: number,
  options: Required<LoopDetectionOptions>,
): LoopVerdict | undefined {
  const invented = name === unreadableAction ? 0 : inventedInARow(seen, turn);
  const count = 1 + Math.max(equal, invented);
  const at = level === 'block' ? options.blockAt : options.warnAt;
  return count > 1 && count >= at
    ? withoutTool(level, name, count, invented >= equal, options)
    : undefined;
}

function pollThresholds({ pollWarnAt, pollBlockAt }: Required<LoopDetectionOptions>) {
  return { warnAt: pollWarnAt, blockAt: pollBlockAt };
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
  if (!call.isKnown) return judgeToolless('warn', seen, call, equal.length, options);
  if (count === 1 || count < Math.min(options.warnAt, options.pollWarnAt)) return undefined;
  const idle = 1 + withResult(equal, result);
  if (idle > 1 && idle >= options.warnAt)
    return repeated('warn', idleDetector(seen, call, idle), call.name, idle, options);
  return count >= options.pollWarnAt
    ? repeated('warn', 'poll', call.name, count, pollThresholds(options))
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
): 'ping_pong' | 'repeat' {
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
