import { defined } from '../../../base/defined.ts';
import { attemptsOf } from '../../../effects/tool-call/made-attempts.ts';
import { retrySeed } from '../../../effects/tool-call/retry.ts';
import type { EndedAttempt, SupervisedResult } from '../../../effects/tool-call/supervisor.ts';
import type { Writes } from '../../../effects/writes.ts';
import { type DecisionDraft, decision } from '../../../ledger/decisions/decision.ts';
import type { DataOf, DecisionName } from '../../../ledger/decisions/decision-map.ts';
import type { Severity } from '../../../ledger/decisions/severity.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { isSuccess, type ToolResult } from '../../../ledger/tool-result.ts';
import type { CallState } from '../../../loop/call-state.ts';
import type { Position } from '../../../loop/position.ts';
import { hasChain } from '../../../supervision/error-chains.ts';
import {
  attemptsBehind,
  isChainExhausted,
  type RoutedFailure,
  type RoutedTool,
  type Routing,
  reportNote,
  route,
} from '../../../supervision/error-router.ts';
import { type CallEvidence, failuresInARow } from '../../../supervision/evidence.ts';
import type { ErrorRoutingOptions } from '../../../supervision/options.ts';
import type { Tool } from '../../../tools/tool.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { failureSeverity } from './failure-severity.ts';
import { mayMend, mayRepeat } from './repetition.ts';
import { rawOf, textOf } from './routed-results.ts';
import type { SeenCalls } from './seen-calls.ts';

interface RoutingParts {
  readonly frame: BodyFrame;
  readonly position: Position;
  readonly errors: Required<ErrorRoutingOptions>;
  readonly seen: SeenCalls;
  find(name: string): Tool | undefined;
}

/** Error types that are not routed: a person or the runtime ended the call. */
const notRouted: ReadonlySet<string | undefined> = new Set([
  'rejected',
  'expired',
  'cancelled',
  'unknown_unresolved',
  'interrupted',
  'aborted',
]);

/**
 * Number of causes whose attempts a call may use up. A call that fails with alternating errors gets
 * this many times the attempts of one cause.
 */
const mostCauses = 2;

/**
 * Carries out the choices of the error router for the failed attempts of one agent invocation, and
 * counts the failures.
 */
export class ErrorRouting {
  readonly #parts: RoutingParts;

  constructor(parts: RoutingParts) {
    this.#parts = parts;
  }

  /**
   * Returns the failures of the same cause in a row, this one included. It counts this call, and
   * earlier calls since the last message from outside.
   */
  failures(attempt: EndedAttempt, result: ToolResult): number {
    return this.#count(attempt, result, mayRepeat(attempt), {
      ...this.#routed(attempt),
      ownRetry: false,
    });
  }

  /** True when the model already got the message that this call cannot succeed. */
  isExhausted({ name, result }: CallEvidence, failures: number, tool: Tool | undefined): boolean {
    const fallback = tool === undefined ? undefined : this.#fallbackOf(tool, [tool.name]);
    const routed = { fallback, ownRetry: tool?.retry !== undefined };
    return isChainExhausted(
      errorTypeOf(result),
      result.status,
      failures,
      this.#parts.errors,
      routed,
      this.#severity(name, result),
    );
  }

  /**
   * Returns the outcome of a failed attempt by the router; `undefined` when the attempt is left as
   * it is.
   * @param result tool result after checks and hooks
   */
  failed(attempt: EndedAttempt, result: ToolResult): SupervisedResult | undefined {
    if (!this.#isRouted(attempt, result)) return undefined;
    const routed = this.#routed(attempt);
    const { state } = attempt;
    const failure = {
      ...this.#failureOf(state.call.name, result, mayRepeat(attempt), attempt.retryAfterMs),
      retrySeed: retrySeed(state),
      isUsedUp: this.#isUsedUp(state),
    };
    const count = this.#count(attempt, result, failure.mayRepeat, routed);
    return this.#outcome(
      state,
      attempt.tool.name,
      result,
      route(failure, count, this.#parts.errors, routed),
      count,
      true,
    );
  }

  /**
   * Returns the outcome of a call that was not attempted. Such a call is never tried again
   * unchanged.
   */
  refused(
    state: CallState,
    tool: Tool | undefined,
    result: ToolResult,
  ): SupervisedResult | undefined {
    if (notRouted.has(result.errorType) || result.status === 'unknown') return undefined;
    const { errors } = this.#parts;
    const fallback = tool === undefined ? undefined : this.#fallbackOf(tool, triedOf(state));
    const routed = { fallback, tried: triedOf(state), ownRetry: true };
    const failure = { ...this.#failureOf(state.call.name, result, true), wasMade: false };
    const count =
      attemptsBehind(this.#callsBefore(state, errorTypeOf(result)), failure, errors, routed) + 1;
    return this.#outcome(
      state,
      state.call.name,
      result,
      route(failure, count, errors, routed),
      count,
      false,
    );
  }

  /**
   * Returns the outcome with a fallback tool for a tool that is left alone for a while; `undefined`
   * without one.
   */
  fallBack(state: CallState, tool: Tool, result: ToolResult): SupervisedResult | undefined {
    const tried = triedOf(state);
    const routed = { fallback: this.#fallbackOf(tool, tried), tried, ownRetry: true };
    const failure = { ...this.#failureOf(state.call.name, result, true), wasMade: false };
    const routing = route(failure, 1, this.#parts.errors, routed);
    return routing.strategy === 'fallbackTool'
      ? this.#outcome(state, tool.name, result, routing, 1, false)
      : undefined;
  }

  /** Returns the decision for another attempt that the tool itself requests. */
  ownRetry(attempt: EndedAttempt, result: ToolResult, delayMs: number): EventDraft {
    const { tool, state } = attempt;
    const reasoning =
      `${tool.name} failed with ${errorTypeOf(result)}, and the tool itself says how often ` +
      `it is tried: again after ${delayMs} ms.`;
    return this.#decision(state, tool.name, result, 'retry', reasoning, ['report'], {
      attempt: attempt.attempt,
      delayMs,
    });
  }

  #isRouted(attempt: EndedAttempt, result: ToolResult): boolean {
    if (result.escalate === true) return true;
    if (isSuccess(result))
      return (
        result.errorType !== undefined && hasChain(result.errorType, this.#parts.errors.chains)
      );
    if (result.status === 'unknown' || notRouted.has(result.errorType)) return false;
    // The tool's `recovery` handles attempts with an unknown effect. Failures after the tool did
    // its work are routed: they themselves say what to do.
    return isSuccess(attempt.result) || mayRepeat(attempt);
  }

  #routed({ tool, state }: EndedAttempt): RoutedTool {
    const tried = triedOf(state);
    return { fallback: this.#fallbackOf(tool, tried), tried, ownRetry: tool.retry !== undefined };
  }

  /** Returns the fallback of a tool, if it exists and was not tried yet for this call. */
  #fallbackOf(tool: Tool, tried: readonly string[]): string | undefined {
    const name = tool.fallback?.tool;
    return name === undefined || tried.includes(name) || this.#parts.find(name) === undefined
      ? undefined
      : name;
  }

  #callsBefore(state: CallState, errorType: string): number {
    const { position, seen, find } = this.#parts;
    const recent = seen.all().filter(({ turn }) => turn === position.turn.number);
    return recent.length === 0
      ? 0
      : failuresInARow(recent, state.call, errorType, (name) => mayMend(find(name), errorType));
  }

  #count(
    { state }: EndedAttempt,
    result: ToolResult,
    mayRepeat: boolean,
    routed: RoutedTool,
  ): number {
    const { errors } = this.#parts;
    const errorType = errorTypeOf(result);
    const calls = state.fallback === undefined ? this.#callsBefore(state, errorType) : 0;
    const failure = this.#failureOf(state.call.name, result, mayRepeat);
    const behind = attemptsBehind(calls, failure, errors, routed);
    // The tool's own retries count as one attempt.
    if (routed.ownRetry) return behind + 1;
    const earlier = endedAttempts(state);
    const other = earlier.findLastIndex(
      ({ result: ended }) => ended !== undefined && errorTypeOf(ended.result) !== errorType,
    );
    const inARow = earlier.length - 1 - other;
    return this.#isUsedUp(state) ? errors.attempts + 1 : behind + inARow + 1;
  }

  #severity(tool: string, result: ToolResult): Severity | undefined {
    return failureSeverity(tool, result, this.#parts.seen, this.#parts.errors);
  }

  #failureOf(
    tool: string,
    result: ToolResult,
    mayRepeat: boolean,
    retryAfterMs?: number,
  ): RoutedFailure {
    const { status, metadata, escalate } = result;
    return {
      errorType: errorTypeOf(result),
      status,
      severity: this.#severity(tool, result),
      wasMade: true,
      mayRepeat,
      retryAfterMs,
      hasRaw: metadata?.['raw'] !== undefined,
      escalate: escalate === true,
    };
  }

  /** True when this is the last attempt that a call gets whatever its causes. */
  #isUsedUp(state: CallState): boolean {
    return endedAttempts(state).length + 1 >= mostCauses * this.#parts.errors.attempts;
  }

  #outcome(
    state: CallState,
    tool: string,
    result: ToolResult,
    routing: Routing,
    attempt: number,
    attempted: boolean,
  ): SupervisedResult {
    const { strategy, reasoning, alternatives, delayMs, hint, fallback } = routing;
    const more = {
      attempt,
      ...defined({ delayMs, fallback }),
    };
    if (strategy === 'escalate')
      return this.#escalated(state, tool, result, routing, attempt, attempted);
    const writes = writesOf(
      this.#decision(state, tool, result, strategy, reasoning, alternatives, more),
    );
    switch (strategy) {
      case 'retry':
      case 'backoff':
        return { result, notes: [], writes, retryAfterMs: delayMs ?? 0 };
      case 'fallbackTool':
        return { result, notes: [], writes, retryAfterMs: 0, fallback: fallback as string };
      case 'hint':
      case 'replan':
      case 'decompose':
        return { result, notes: [hint as string], writes };
      case 'raw':
        return {
          result: rawOf(result),
          notes: ['It could not be read. This is what came, as it came.'],
          writes,
        };
      default:
        return { result, notes: [reportNote], writes };
    }
  }

  #escalated(
    state: CallState,
    tool: string,
    result: ToolResult,
    routing: Routing,
    attempt: number,
    attempted: boolean,
  ): SupervisedResult {
    const { escalateTo = 'caller', reasoning, alternatives } = routing;
    const errorType = errorTypeOf(result);
    const tried =
      result.escalation ??
      `${tool} was tried ${attempt === 1 ? 'once' : `${attempt} times`} and failed with ` +
        `${errorType}.`;
    const failure = {
      name: 'EscalatedError',
      code: 'escalated',
      message: `${tried} ${textOf(result)}`,
      data: { tool, errorType, tried },
    };
    const handedUp: ToolResult = { ...result, escalate: true, escalation: tried };
    const data = {
      attempt,
      escalateTo,
      ...(escalateTo === 'caller' ? { failure } : {}),
    };
    const escalation = this.#decision(
      state,
      tool,
      result,
      'escalate',
      reasoning,
      alternatives,
      data,
    );
    if (escalateTo === 'caller')
      return { result: handedUp, notes: [], writes: writesOf(escalation) };
    // A person is asked about an attempt. A failure without an attempt is listed as an `error`
    // event.
    if (escalateTo === 'human' && attempted)
      return { result: handedUp, notes: [], writes: writesOf(escalation), asks: true };
    const listed: EventDraft = {
      type: 'error',
      by: 'runtime',
      invocationId: this.#parts.frame.record.path,
      error: failure,
      phase: 'escalation',
    };
    return {
      result: handedUp,
      notes: [reportNote],
      writes: { drafts: [escalation, listed], extras: undefined },
    };
  }

  #decision(
    { call }: CallState,
    tool: string,
    result: ToolResult,
    strategy: DecisionName<'error_router'>,
    reasoning: string,
    alternatives: readonly string[],
    more: Omit<DataOf<'error_router', 'report'>, 'callId' | 'tool' | 'errorType'>,
  ): DecisionDraft {
    const severity = this.#severity(call.name, result);
    const errorType = errorTypeOf(result);
    const data = { callId: call.callId, tool, errorType, ...defined({ severity }), ...more };
    return decision('error_router', strategy, {
      invocationId: this.#parts.frame.record.path,
      reasoning: `${reasoning}${this.#missingFallback(tool)}`,
      alternatives,
      data,
    });
  }

  /**
   * Returns a note about a fallback tool that does not exist. It is skipped, and the note points
   * out the wrong name.
   */
  #missingFallback(tool: string): string {
    const fallback = this.#parts.find(tool)?.fallback?.tool;
    return fallback === undefined || this.#parts.find(fallback) !== undefined
      ? ''
      : ` Its fallback tool "${fallback}" does not exist.`;
  }
}

function writesOf(draft: EventDraft): Writes {
  return { drafts: [draft], extras: undefined };
}

function errorTypeOf({ errorType, status }: ToolResult): string {
  return errorType ?? status;
}

/** Returns the attempts with an end that tells the cause. */
function endedAttempts(state: CallState): CallState['attempts'] {
  return attemptsOf(state).filter(
    ({ result }) => result !== undefined && result.result.errorType !== 'interrupted',
  );
}

/** Returns the names of the tools that this call was tried with. */
function triedOf({ call, attempts, fallback }: CallState): readonly string[] {
  return [
    call.name,
    ...attempts.flatMap(({ tool }) => tool ?? []),
    ...(fallback === undefined ? [] : [fallback]),
  ];
}
