import type { JsonValue } from '../../base/json.ts';
import {
  attemptsOf,
  type EndedAttempt,
  type SupervisedResult,
  type Writes,
} from '../../effects/tool-ports.ts';
import type { EventDraft } from '../../ledger/event.ts';
import { isSuccess, type ToolResult } from '../../ledger/tool-result.ts';
import type { CallState } from '../../loop/call-state.ts';
import type { Position } from '../../loop/position.ts';
import {
  attemptsBehind,
  hasChain,
  isChainExhausted,
  type RoutedFailure,
  type RoutedTool,
  type Routing,
  reportNote,
  route,
} from '../../supervision/error-router.ts';
import { type CallEvidence, failuresInARow } from '../../supervision/evidence.ts';
import type { ErrorRoutingOptions } from '../../supervision/options.ts';
import { toolResult } from '../../tools/result.ts';
import type { Tool } from '../../tools/tool.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import type { SeenCalls } from './seen-calls.ts';
import { decisionDraft } from './supervision/decision-draft.ts';

interface RoutingParts {
  readonly frame: BodyFrame;
  readonly position: Position;
  readonly errors: Required<ErrorRoutingOptions>;
  readonly seen: SeenCalls;
  find(name: string): Tool | undefined;
}

/** What a person or the runtime ended is no failure of the tool. */
const notRouted: ReadonlySet<string | undefined> = new Set([
  'rejected',
  'expired',
  'cancelled',
  'unknown_unresolved',
  'interrupted',
  'aborted',
]);

/**
 * A call that failed with different errors by turns is tried so many times the attempts of one
 * cause, and not again.
 */
const mostCauses = 2;

/**
 * Does what the error router says about the failed attempts of one agent invocation, and counts
 * them.
 */
export class ErrorRouting {
  readonly #parts: RoutingParts;

  constructor(parts: RoutingParts) {
    this.#parts = parts;
  }

  /**
   * How often the same cause has failed in a row, this time included: in this call, and in calls
   * before it since the last message from outside.
   */
  failures(attempt: EndedAttempt, result: ToolResult): number {
    return this.#count(attempt, result, mayRepeat(attempt), {
      ...this.#routed(attempt),
      ownRetry: false,
    });
  }

  /** Whether the model was told that this way is closed. */
  isExhausted({ result }: CallEvidence, failures: number, tool: Tool | undefined): boolean {
    const standIn = tool === undefined ? undefined : this.#standInOf(tool, [tool.name]);
    const routed = { fallback: standIn, ownRetry: tool?.retry !== undefined };
    return isChainExhausted(
      errorTypeOf(result),
      result.status,
      failures,
      this.#parts.errors,
      routed,
    );
  }

  /**
   * What is done about a failed attempt; `undefined`: it is left as it is.
   * @param result what checks and hooks have made of what the tool gave
   */
  failed(attempt: EndedAttempt, result: ToolResult): SupervisedResult | undefined {
    if (!this.#isRouted(attempt, result)) return undefined;
    const routed = this.#routed(attempt);
    const failure = failureOf(result, mayRepeat(attempt), attempt.retryAfterMs);
    const count = this.#count(attempt, result, failure.mayRepeat, routed);
    return this.#outcome(
      attempt.state,
      attempt.tool.name,
      result,
      route(failure, count, this.#parts.errors, routed),
      count,
      true,
    );
  }

  /** What is done about a call that was not attempted. Nothing of it is tried again as it is. */
  refused(
    state: CallState,
    tool: Tool | undefined,
    result: ToolResult,
  ): SupervisedResult | undefined {
    if (notRouted.has(result.errorType) || result.status === 'unknown') return undefined;
    const { errors } = this.#parts;
    const standIn = tool === undefined ? undefined : this.#standInOf(tool, triedOf(state));
    const routed = { fallback: standIn, ownRetry: true };
    const failure = failureOf(result, true, undefined);
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

  /** The tool that stands in for one that is left alone for a while; `undefined`: there is none. */
  standIn(state: CallState, tool: Tool, result: ToolResult): SupervisedResult | undefined {
    const routed = { fallback: this.#standInOf(tool, triedOf(state)), ownRetry: true };
    const routing = route(failureOf(result, true, undefined), 1, this.#parts.errors, routed);
    return routing.strategy === 'fallbackTool'
      ? this.#outcome(state, tool.name, result, routing, 1, false)
      : undefined;
  }

  /** The tool itself asked for another attempt. */
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
      return result.errorType !== undefined && hasChain(result.errorType, this.#parts.errors);
    if (result.status === 'unknown' || notRouted.has(result.errorType)) return false;
    // What nobody knows the effect of is answered by the tool's recovery; what failed after the
    // tool had done its work says what to do itself.
    return isSuccess(attempt.result) || mayRepeat(attempt);
  }

  #routed({ tool, state }: EndedAttempt): RoutedTool {
    return { fallback: this.#standInOf(tool, triedOf(state)), ownRetry: tool.retry !== undefined };
  }

  /** The fallback of a tool that is there and was not tried yet for this call. */
  #standInOf(tool: Tool, tried: readonly string[]): string | undefined {
    const name = tool.fallback?.tool;
    return name === undefined || tried.includes(name) || this.#parts.find(name) === undefined
      ? undefined
      : name;
  }

  #callsBefore(state: CallState, errorType: string): number {
    const { position, seen, find } = this.#parts;
    const recent = seen.all().filter(({ turn }) => turn === position.turn);
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
    const behind = attemptsBehind(calls, failureOf(result, mayRepeat, undefined), errors, routed);
    // What the tool itself tried counts as one.
    if (routed.ownRetry) return behind + 1;
    // An attempt that was cut off says nothing of the cause.
    const earlier = attemptsOf(state).filter(
      ({ result: ended }) => ended !== undefined && ended.result.errorType !== 'interrupted',
    );
    const other = earlier.findLastIndex(
      ({ result: ended }) => ended !== undefined && errorTypeOf(ended.result) !== errorType,
    );
    const inARow = earlier.length - 1 - other;
    return earlier.length + 1 >= mostCauses * errors.attempts
      ? errors.attempts + 1
      : behind + inARow + 1;
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
      ...(delayMs === undefined ? {} : { delayMs }),
      ...(fallback === undefined ? {} : { fallback }),
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
      ...(escalateTo === 'caller' ? { failure: failure as unknown as JsonValue } : {}),
    };
    const decision = this.#decision(state, tool, result, 'escalate', reasoning, alternatives, data);
    if (escalateTo === 'caller') return { result: handedUp, notes: [], writes: writesOf(decision) };
    // A person is asked about an attempt; where there was none the failure is listed.
    if (escalateTo === 'human' && attempted)
      return { result: handedUp, notes: [], writes: writesOf(decision), asks: true };
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
      writes: { drafts: [decision, listed], extras: undefined },
    };
  }

  #decision(
    { call }: CallState,
    tool: string,
    result: ToolResult,
    strategy: string,
    reasoning: string,
    alternatives: readonly string[],
    data: Readonly<Record<string, JsonValue>>,
  ): EventDraft {
    const all = { callId: call.callId, tool, errorType: errorTypeOf(result), ...data };
    return decisionDraft(this.#parts.frame.record.path, {
      component: 'error_router',
      decision: strategy,
      reasoning: `${reasoning}${this.#missingStandIn(tool)}`,
      alternatives,
      data: all,
    });
  }

  /** A fallback that nobody has is passed over; whoever misspelt it is told why. */
  #missingStandIn(tool: string): string {
    const fallback = this.#parts.find(tool)?.fallback?.tool;
    return fallback === undefined || this.#parts.find(fallback) !== undefined
      ? ''
      : ` Its fallback tool "${fallback}" does not exist.`;
  }
}

/**
 * Only what is known to have had no effect, and tools that may be run again, are ever tried again
 * or followed by another tool.
 */
export function mayRepeat({ effect, tool, result }: EndedAttempt): boolean {
  if (effect === 'none') return true;
  // A tool that has done its work is not run again because of what failed afterwards.
  return tool.recovery === 'rerun' && (effect === 'unknown' || isSuccess(result));
}

function writesOf(draft: EventDraft): Writes {
  return { drafts: [draft], extras: undefined };
}

function errorTypeOf({ errorType, status }: ToolResult): string {
  return errorType ?? status;
}

function failureOf(
  result: ToolResult,
  mayRepeat: boolean,
  retryAfterMs: number | undefined,
): RoutedFailure {
  const { status, metadata, escalate } = result;
  return {
    errorType: errorTypeOf(result),
    status,
    mayRepeat,
    retryAfterMs,
    hasRaw: metadata?.['raw'] !== undefined,
    escalate: escalate === true,
  };
}

/** Tools that this call was tried with. */
function triedOf({ call, attempts, fallback }: CallState): readonly string[] {
  return [
    call.name,
    ...attempts.flatMap(({ tool }) => tool ?? []),
    ...(fallback === undefined ? [] : [fallback]),
  ];
}

/** What came, unread. */
function rawOf(result: ToolResult): ToolResult {
  const { raw, ...metadata } = result.metadata ?? {};
  return toolResult.partial(raw, {
    errorType: errorTypeOf(result),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  });
}

function textOf({ content }: ToolResult): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/**
 * Whether what a tool did may have mended a failure: when it says of itself that it changes
 * something outside. What says nothing may only read, as most do; of failures that say nothing of
 * their kind either, as of tests that fail, anything that was done may be the end.
 */
export function mayMend(tool: Tool | undefined, errorType: string): boolean {
  if (tool === undefined) return false;
  if (errorType === 'tool_error' && tool.recovery !== 'rerun') return true;
  return (
    tool.destructive ||
    tool.onRepeat === 'confirm' ||
    tool.recovery === 'ask' ||
    typeof tool.recovery === 'function'
  );
}
