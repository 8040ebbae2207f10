import { type Severity, severityOf } from '../ledger/decisions/severity.ts';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import type { ErrorRoutingOptions, Strategy } from './options.ts';

/** Steps for the first, second, … failure of one cause. */
export type Chain = readonly Strategy[];
type StrategyName = Extract<Strategy, string>;
type Options = Pick<Required<ErrorRoutingOptions>, 'chains' | 'severities' | 'bySeverity'>;
type Chains = Options['chains'];

interface ChosenChain {
  readonly steps: Chain;
  /** True for a configured chain. */
  readonly isGiven: boolean;
  /** True when the chain may repeat a refused call: it was configured for this kind of failure. */
  readonly repeatsRefused: boolean;
}

/** The facts of a failure that choose its chain. */
export interface FailureFacts {
  readonly errorType: string;
  readonly status: ToolResultStatus;
  /** Given when the severity of the failure is not that of its kind. */
  readonly severity?: Severity | undefined;
  /** True when the tool was run; false for a call that was refused before. */
  readonly wasMade: boolean;
}

/**
 * Error types that lie in the call itself or in a rule, not in the tool. Another tool in its place
 * would not mend the call, or would go around the rule.
 */
const notOfTheTool: ReadonlySet<string> = new Set([
  'validation_error',
  'unknown_tool',
  'unreadable_action',
  'loop_blocked',
  'guardrail_denied',
  'hook_refused',
  'hook_failed',
  'ssrf_blocked',
]);

/** Built-in chains by error type. */
const byErrorType: Readonly<Record<string, Chain>> = {
  http_403: ['hint', 'report'],
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
  unreadable_action: [
    'hint',
    {
      hint: 'It could not be read again. Copy the form that you were given, and change its values.',
    },
    'report',
  ],
};

/** Chains by status, for error types without one. */
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
  unreadable_action: 'Write the action again, in the form that you were given.',
};
const generalHint =
  'This did not work. Change the arguments or take another way; the same call will fail again.';

/** Hints for the model about failures of this type. */
export function hintFor(errorType: string): string {
  return Object.hasOwn(hints, errorType) ? (hints[errorType] as string) : generalHint;
}

/** Texts for the model of the steps that change its way. */
export const wayHints: Readonly<Record<'replan' | 'decompose', string>> = {
  replan:
    'This step of your plan cannot be done so. Keep what is done, and plan the rest anew: say ' +
    'which other steps lead to the goal, and go on with the first of them.',
  decompose:
    'The step is too large, or asks too much at once. Break it down into smaller steps that ' +
    'can be checked one by one, and do the first of them.',
};

/** The name of a step. */
export function nameOf(step: Strategy): StrategyName {
  if (typeof step === 'string') return step;
  return 'hint' in step ? 'hint' : 'fallbackTool' in step ? 'fallbackTool' : 'escalate';
}

/** Strategies that go on with the call itself; the others give the model a result. */
export function goesOn(name: StrategyName): boolean {
  return name === 'retry' || name === 'backoff' || name === 'fallbackTool';
}

/** Strategies that end a chain. */
export function isLast(name: StrategyName): boolean {
  return name === 'report' || name === 'escalate';
}

/**
 * Returns the chain of a failure: by its error type, else by its status, else by its severity, else
 * `default`. A configured chain comes before a built-in one.
 */
export function chainOf(kind: Omit<FailureFacts, 'wasMade'>, options: Options): ChosenChain {
  const { errorType, status } = kind;
  const { chains } = options;
  const given = own(chains, errorType);
  if (given !== undefined) return { steps: given, isGiven: true, repeatsRefused: true };
  const byDefault = generalChain(kind, options);
  const givenByStatus = own(chains, status);
  // This error type only says that the call failed; the status decides if the failure may pass.
  const isVague =
    errorType === 'tool_error' && (status !== 'error_permanent' || givenByStatus !== undefined);
  const byType = isVague || byDefault !== undefined ? undefined : own(byErrorType, errorType);
  if (byType !== undefined) return { steps: byType, isGiven: false, repeatsRefused: false };
  if (givenByStatus !== undefined)
    return { steps: givenByStatus, isGiven: true, repeatsRefused: true };
  if (byDefault !== undefined) return { steps: byDefault, isGiven: true, repeatsRefused: false };
  return { steps: byStatus[status], isGiven: false, repeatsRefused: false };
}

/** Returns the configured chain of the severity of a failure, else that of all failures. */
function generalChain(
  kind: Omit<FailureFacts, 'wasMade'>,
  { chains, severities, bySeverity }: Options,
): Chain | undefined {
  const ofTool = takesDefault(kind);
  if (!ofTool && !Object.hasOwn(severities, kind.errorType)) return undefined;
  const severity = kind.severity ?? severityOf(kind, severities);
  return bySeverity[severity] ?? (ofTool ? own(chains, 'default') : undefined);
}

/**
 * True for a failure of the tool. A faulty call, an open circuit and a doubtful success keep their
 * own chains: a hint about wrong arguments helps more than any general reaction.
 */
function takesDefault({ errorType, status }: Omit<FailureFacts, 'wasMade'>): boolean {
  return errorType !== 'circuit_open' && !notOfTheTool.has(errorType) && !isDoubt(status);
}

/** True for a result that counts as a success and has an error type. */
function isDoubt(status: ToolResultStatus): boolean {
  return status === 'success' || status === 'partial';
}

/**
 * True when a chain is configured for this error type. Then even results that count as a success
 * are checked.
 */
export function hasChain(errorType: string, chains: Chains): boolean {
  return Object.hasOwn(chains, errorType) || Object.hasOwn(byErrorType, errorType);
}

function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/**
 * Adds the fallback tool to a chain that does not name one. A built-in chain takes it before the
 * first step that gives the model a failure; a configured chain, and that of a success, before
 * `report`. A chain that ends by escalation stays as it is.
 */
export function withFallback({ steps, isGiven }: ChosenChain, kind: FailureFacts): Chain {
  const { errorType, status, wasMade } = kind;
  if (!wasMade && errorType !== 'circuit_open') return steps;
  if (notOfTheTool.has(errorType)) return steps;
  if (steps.some((step) => nameOf(step) === 'fallbackTool')) return steps;
  const end = steps.findIndex((step) => isLast(nameOf(step)));
  if (end >= 0 && nameOf(steps[end] as Strategy) === 'escalate') return steps;
  const last = end < 0 ? steps.length : end;
  const isEarly = !isGiven && !isDoubt(status);
  const at = isEarly ? steps.findIndex((step) => !goesOn(nameOf(step))) : last;
  return [...steps.slice(0, at), 'fallbackTool', ...steps.slice(at)];
}
