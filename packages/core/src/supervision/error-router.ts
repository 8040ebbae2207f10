import { longestWaitMs } from '../base/longest-wait.ts';
import { randomFromSeed } from '../base/random.ts';
import { retryDelay } from '../base/retry-options.ts';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import type { ErrorRoutingOptions, EscalationTarget, Strategy } from './options.ts';

/** The facts of a failed attempt that decide about the next step. */
export interface RoutedFailure {
  readonly errorType: string;
  readonly status: ToolResultStatus;
  /** True when another attempt, or another tool in its place, cannot have an effect twice. */
  readonly mayRepeat: boolean;
  /** Milliseconds that the other side asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Seed of the jitter of the delay, the same one in a replay. */
  readonly retrySeed?: string;
  /** True when the raw result is available. */
  readonly hasRaw: boolean;
  /** True when the tool itself asks to escalate. */
  readonly escalate: boolean;
}

/** The properties of a tool that the router uses. */
export interface RoutedTool {
  /** Name of the tool that is run in its place. */
  readonly fallback?: string | undefined;
  /** True when the tool has its own retries: the chain does not repeat it. */
  readonly ownRetry: boolean;
}

type StrategyName = Extract<Strategy, string>;

/** The reaction to a failed attempt, with its reason. */
export interface Routing {
  readonly strategy: StrategyName;
  /** Milliseconds until the next attempt, of `retry` and `backoff`. */
  readonly delayMs?: number;
  /** The text for the model, of `hint`. */
  readonly hint?: string;
  /** The tool that is run next, of `fallbackTool`. */
  readonly fallback?: string;
  readonly escalateTo?: EscalationTarget;
  readonly reasoning: string;
  readonly alternatives: readonly string[];
}

type Options = Required<ErrorRoutingOptions>;
type Chain = readonly Strategy[];
interface ChosenChain {
  readonly steps: Chain;
  /** True for a configured chain; a default chain never repeats a refused call. */
  readonly isGiven: boolean;
}

const byErrorType: Readonly<Record<string, Chain>> = {
  http_403: ['hint', 'fallbackTool', 'report'],
  http_404: ['hint', 'report'],
  http_410: ['hint', 'report'],
  http_429: ['backoff', 'report'],
  timeout: ['retry', 'hint', 'report'],
  parse_error: ['hint', 'raw', 'report'],
  empty_result: [
    'hint',
    { hint: 'Still nothing: look for it in another source or with another tool.' },
    'report',
  ],
  ssrf_blocked: ['report'],
  circuit_open: ['fallbackTool', 'report'],
  file_not_found: ['hint', 'report'],
  tool_error: ['hint', 'report'],
  validation_error: ['hint', 'report'],
  unknown_tool: ['hint', 'report'],
};

const byStatus: Readonly<Record<ToolResultStatus, Chain>> = {
  success: ['report'],
  partial: ['report'],
  error_transient: ['backoff', 'backoff', 'report'],
  error_permanent: ['report'],
  error_blocked: ['report'],
  timeout: ['retry', 'hint', 'report'],
  unknown: ['report'],
};

const hints: Readonly<Record<string, string>> = {
  http_403:
    'The server refuses this request. Do not ask it again in the same way: look for the ' +
    'same content at another address, or use another tool.',
  http_404: 'There is nothing at this address. Search for the right address before you ask again.',
  http_410: 'What was at this address has been removed. Search for another address that has it.',
  file_not_found: 'There is no such file. Look for the right path before you ask again.',
  timeout: 'It took too long. Ask for something simpler or smaller.',
  parse_error: 'What came could not be read. Try another parser, or ask for another format.',
  empty_result: 'Nothing was found. Use broader or fewer search words.',
  tool_error:
    'The tool could not do it. Read why, and change the arguments or take another way; the ' +
    'same call will fail again.',
  validation_error:
    'The arguments do not fit the schema of the tool. Correct what is named above before ' +
    'you call it again.',
  unknown_tool: 'There is no such tool. Use only tools of the list that you were given.',
};
const generalHint =
  'This did not work. Change the arguments or take another way; the same call will fail again.';

/** Hints for the model about failures of this type. */
export function hintFor(errorType: string): string {
  return Object.hasOwn(hints, errorType) ? (hints[errorType] as string) : generalHint;
}

/** The text for the model when no step is left. */
export const reportNote =
  'This way is closed: do not repeat this call. Go on without it, or say what could not be done.';

/** Strategies that go on with the call itself; the others give the model a result. */
function goesOn(name: StrategyName): boolean {
  return name === 'retry' || name === 'backoff' || name === 'fallbackTool';
}

function isLast(name: StrategyName): boolean {
  return name === 'report' || name === 'escalate';
}

function nameOf(step: Strategy): StrategyName {
  if (typeof step === 'string') return step;
  return 'hint' in step ? 'hint' : 'fallbackTool' in step ? 'fallbackTool' : 'escalate';
}

/**
 * Returns the chain of a failure: by its error type, else by its status. A configured chain comes
 * before a default one.
 */
function chainOf(
  { errorType, status }: Pick<RoutedFailure, 'errorType' | 'status'>,
  { chains }: Options,
): ChosenChain {
  const given = own(chains, errorType);
  if (given !== undefined) return { steps: given, isGiven: true };
  // This error type only says that the call failed; the status decides if the failure may pass.
  const isVague = errorType === 'tool_error' && status !== 'error_permanent';
  const byType = isVague ? undefined : own(byErrorType, errorType);
  if (byType !== undefined) return { steps: byType, isGiven: false };
  const givenByStatus = own(chains, status);
  return givenByStatus === undefined
    ? { steps: byStatus[status], isGiven: false }
    : { steps: givenByStatus, isGiven: true };
}

/**
 * True when a chain is configured for this error type. Then even results that count as a success
 * are checked.
 */
export function hasChain(errorType: string, { chains }: Options): boolean {
  return Object.hasOwn(chains, errorType) || Object.hasOwn(byErrorType, errorType);
}

function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** The steps of the chain that can be taken, up to the one that ends it. */
function stepsOf(failure: RoutedFailure, options: Options, tool: RoutedTool): Chain {
  const { steps, isGiven } = chainOf(failure, options);
  const mayTryAgain =
    failure.mayRepeat &&
    !tool.ownRetry &&
    !isTooLong(failure) &&
    (isGiven || failure.status !== 'error_blocked');
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
  return typeof step === 'object' && 'fallbackTool' in step ? step.fallbackTool : tool.fallback;
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
    : attempt > options.attempts
      ? last
      : (steps[attempt - 1] ?? last);
  const strategy = nameOf(step);
  return {
    strategy,
    ...detailsOf(step, strategy, failure, attempt, steps, options, tool),
    reasoning: reasonOf(strategy, failure, attempt, options),
    alternatives: [...new Set(steps.map(nameOf))].filter((other) => other !== strategy),
  };
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
  if (attempt > attempts) return `${failed}, and ${attempts} attempts are all that one cause gets.`;
  switch (strategy) {
    case 'retry':
      return `${failed}, which may pass: it is tried again.`;
    case 'backoff':
      return `${failed}, which may pass: it is tried again after a while.`;
    case 'hint':
      return `${failed}: the model is told what it may do instead.`;
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
): boolean {
  if (failures === 0 || status === 'unknown') return false;
  // A result that was given raw was no failure any more.
  const failure: RoutedFailure = {
    errorType,
    status,
    mayRepeat: true,
    hasRaw: false,
    escalate: false,
  };
  const steps = stepsOf(failure, options, tool);
  const told = steps.filter((step) => !goesOn(nameOf(step))).length;
  return failures >= told || attemptsBehind(failures, failure, options, tool) > options.attempts;
}
