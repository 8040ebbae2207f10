import { longestWaitMs } from '../base/longest-wait.ts';
import { randomFromSeed } from '../base/random.ts';
import { retryDelay } from '../base/retry-options.ts';
import type { Severity } from '../ledger/decisions/severity.ts';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import {
  type Chain,
  chainOf,
  goesOn,
  hintFor,
  isLast,
  nameOf,
  wayHints,
  withFallback,
} from './error-chains.ts';
import type { ErrorRoutingOptions, EscalationTarget, Strategy } from './options.ts';

/** The facts of a failed attempt that decide about the next step. */
export interface RoutedFailure {
  readonly errorType: string;
  readonly status: ToolResultStatus;
  /** Given when the severity of the failure is not that of its kind. */
  readonly severity?: Severity | undefined;
  /** True when the tool was run; false for a call that was refused before. */
  readonly wasMade: boolean;
  /** True when another attempt, or another tool in its place, cannot have an effect twice. */
  readonly mayRepeat: boolean;
  /** Milliseconds that the other side asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Seed of the jitter of the delay, the same one in a replay. */
  readonly retrySeed?: string;
  /** True when this call alone has used up the attempts of several causes. @default false */
  readonly isUsedUp?: boolean;
  /** True when the raw result is available. */
  readonly hasRaw: boolean;
  /** True when the tool itself asks to escalate. */
  readonly escalate: boolean;
}

/** The properties of a tool that the router uses. */
export interface RoutedTool {
  /** Name of the tool that is run in its place. */
  readonly fallback?: string | undefined;
  /** Tools that the call was tried with already; none of them is its fallback. @default none */
  readonly tried?: readonly string[];
  /** True when the tool has its own retries: the chain does not repeat it. */
  readonly ownRetry: boolean;
}

type StrategyName = Extract<Strategy, string>;

/** The reaction to a failed attempt, with its reason. */
export interface Routing {
  readonly strategy: StrategyName;
  /** Milliseconds until the next attempt, of `retry` and `backoff`. */
  readonly delayMs?: number;
  /** The text for the model, of `hint`, `replan` and `decompose`. */
  readonly hint?: string;
  /** The tool that is run next, of `fallbackTool`. */
  readonly fallback?: string;
  readonly escalateTo?: EscalationTarget;
  readonly reasoning: string;
  readonly alternatives: readonly string[];
}

type Options = Required<ErrorRoutingOptions>;

/** The text for the model when no step is left. */
export const reportNote =
  'This way is closed: do not repeat this call. Go on without it, or say what could not be done.';

/** The steps of the chain that can be taken, up to the one that ends it. */
function stepsOf(failure: RoutedFailure, options: Options, tool: RoutedTool): Chain {
  const chosen = chainOf(failure, options);
  const steps = tool.fallback === undefined ? chosen.steps : withFallback(chosen, failure);
  const mayTryAgain =
    failure.mayRepeat &&
    !tool.ownRetry &&
    !isTooLong(failure) &&
    (chosen.repeatsRefused || failure.status !== 'error_blocked');
  const usable: Strategy[] = [];
  for (const step of steps) {
    const name = nameOf(step);
    if ((name === 'retry' || name === 'backoff') && !mayTryAgain) continue;
    if (name === 'fallbackTool' && (!failure.mayRepeat || fallbackOf(step, tool) === undefined))
      continue;
    if (name === 'raw' && !failure.hasRaw) continue;
    usable.push(step);
    if (isLast(name)) return usable;
  }
  return [...usable, 'report'];
}

/** True when the wait that the other side asks for is worth it. */
function isTooLong({ retryAfterMs = 0 }: RoutedFailure): boolean {
  return retryAfterMs > longestWaitMs;
}

function fallbackOf(step: Strategy, tool: RoutedTool): string | undefined {
  const name =
    typeof step === 'object' && 'fallbackTool' in step ? step.fallbackTool : tool.fallback;
  return name === undefined || tool.tried?.includes(name) === true ? undefined : name;
}

/**
 * Decides the reaction to a failed attempt.
 * @param attempt number of failures of the same cause (tool, arguments, error type) in a row, this
 * one included, over all calls
 */
export function route(
  failure: RoutedFailure,
  attempt: number,
  options: Options,
  tool: RoutedTool,
): Routing {
  const steps = stepsOf(failure, options, tool);
  const last = steps[steps.length - 1] as Strategy;
  const step = failure.escalate
    ? escalation(last)
    : stepAt(steps, attempt, options, failure.isUsedUp);
  const strategy = nameOf(step);
  return {
    strategy,
    ...detailsOf(step, strategy, failure, attempt, steps, options, tool),
    reasoning: reasonOf(strategy, failure, attempt, options),
    alternatives: [...new Set(steps.map(nameOf))].filter((other) => other !== strategy),
  };
}

/**
 * The step of this attempt. With all attempts used, only a fallback tool that they did not reach is
 * left before the end: it is no attempt on the cause.
 */
function stepAt(steps: Chain, attempt: number, { attempts }: Options, isUsedUp = false): Strategy {
  const last = steps[steps.length - 1] as Strategy;
  if (attempt <= attempts) return steps[attempt - 1] ?? last;
  const unreached = isUsedUp ? steps : steps.slice(attempts);
  return unreached.find((step) => nameOf(step) === 'fallbackTool') ?? last;
}

/** A tool that asks to escalate always does, independent of its chain. */
function escalation(last: Strategy): Strategy {
  return nameOf(last) === 'escalate' ? last : 'escalate';
}

function detailsOf(
  step: Strategy,
  strategy: StrategyName,
  failure: RoutedFailure,
  attempt: number,
  steps: Chain,
  options: Options,
  tool: RoutedTool,
): Pick<Routing, 'delayMs' | 'hint' | 'fallback' | 'escalateTo'> {
  switch (strategy) {
    case 'retry':
      return { delayMs: failure.retryAfterMs ?? 0 };
    case 'backoff':
      return {
        delayMs:
          failure.retryAfterMs ?? backoffMs(attempt, steps, options, failure.retrySeed ?? ''),
      };
    case 'hint':
      return {
        hint: typeof step === 'object' && 'hint' in step ? step.hint : hintFor(failure.errorType),
      };
    case 'replan':
    case 'decompose':
      return { hint: wayHints[strategy] };
    case 'fallbackTool':
      return { fallback: fallbackOf(step, tool) as string };
    case 'escalate':
      return {
        escalateTo:
          typeof step === 'object' && 'escalate' in step ? step.escalate : options.escalateTo,
      };
    default:
      return {};
  }
}

/** The delay doubles with each `backoff`, independent of the steps before the first one. */
function backoffMs(attempt: number, steps: Chain, options: Options, seed: string): number {
  const before = steps.slice(0, attempt - 1).filter((step) => nameOf(step) === 'backoff').length;
  return retryDelay(options, before + 1, () => randomFromSeed(seed));
}

function reasonOf(
  strategy: StrategyName,
  failure: RoutedFailure,
  attempt: number,
  { attempts }: Options,
): string {
  const { errorType, escalate, retryAfterMs } = failure;
  if (escalate) return `The tool itself asks to hand its failure up (${errorType}).`;
  const wait = isTooLong(failure)
    ? ` and is to be tried again after ${retryAfterMs} ms, which is too long to wait`
    : '';
  const failed =
    `It failed with ${errorType} ` +
    `${attempt === 1 ? 'for the first time' : `${attempt} times in a row`}${wait}`;
  if (attempt > attempts) {
    const next = strategy === 'fallbackTool' ? ': another tool is run in its place.' : '.';
    return `${failed}, and ${attempts} attempts are all that one cause gets${next}`;
  }
  switch (strategy) {
    case 'retry':
      return `${failed}, which may pass: it is tried again.`;
    case 'backoff':
      return `${failed}, which may pass: it is tried again after a while.`;
    case 'hint':
      return `${failed}: the model is told what it may do instead.`;
    case 'replan':
      return `${failed}: the model is to plan the rest anew.`;
    case 'decompose':
      return `${failed}: the model is to take smaller steps.`;
    case 'raw':
      return `${failed}: the model gets what came as it came.`;
    case 'fallbackTool':
      return `${failed}: another tool is run in its place.`;
    default:
      return `${failed}, and nothing else is left to try.`;
  }
}

/**
 * Returns the number of attempts of earlier calls of the same cause. Each call took the steps of
 * the chain up to the one that gave the model a result.
 * @param calls number of calls that have failed in this way, in a row
 */
export function attemptsBehind(
  calls: number,
  failure: RoutedFailure,
  options: Options,
  tool: RoutedTool,
): number {
  if (calls === 0) return 0;
  const steps = stepsOf(failure, options, tool);
  let left = calls;
  let taken = 0;
  for (const step of steps) {
    taken++;
    if (!goesOn(nameOf(step)) && --left === 0) return taken;
  }
  return taken + left;
}

/**
 * True when the model already got the message that this call cannot succeed, so that it need not be
 * made again.
 * @param failures number of calls that have failed in this way, in a row
 */
export function isChainExhausted(
  errorType: string,
  status: ToolResultStatus,
  failures: number,
  options: Options,
  tool: RoutedTool,
  severity?: Severity,
): boolean {
  if (failures === 0 || status === 'unknown') return false;
  // A result that was given raw was no failure any more.
  const failure: RoutedFailure = {
    errorType,
    status,
    severity,
    wasMade: true,
    mayRepeat: true,
    hasRaw: false,
    escalate: false,
  };
  const steps = stepsOf(failure, options, tool);
  const told = steps.filter((step) => !goesOn(nameOf(step))).length;
  return failures >= told || attemptsBehind(failures, failure, options, tool) > options.attempts;
}
