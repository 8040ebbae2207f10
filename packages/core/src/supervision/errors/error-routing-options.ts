import {
  describeValue,
  isNonEmptyText,
  isObject,
  isOneOf,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { type RetryOptions, retryChecks } from '../../base/retry-options.ts';
import { type Severity, severities } from '../../ledger/decisions/severity.ts';
import { chainKeyProblem } from './chain-keys.ts';

/**
 * Receiver of a failure that no step resolved: the caller of the agent, a person, or the list of
 * failures of the session.
 */
export type EscalationTarget = 'caller' | 'human' | 'failures';

/**
 * A step after a failed attempt: repeat it at once (`retry`) or after a while (`backoff`), give the
 * model a hint (`hint`), ask it to plan the rest anew (`replan`) or to take smaller steps
 * (`decompose`), run another tool in its place (`fallbackTool`), give the result unread (`raw`),
 * escalate it (`escalate`), or tell the model that this way is closed (`report`). No built-in chain
 * has `replan` or `decompose`.
 */
export type Strategy =
  | 'retry'
  | 'backoff'
  | 'hint'
  | 'replan'
  | 'decompose'
  | 'raw'
  | 'fallbackTool'
  | 'escalate'
  | 'report'
  | { readonly hint: string }
  | { readonly fallbackTool: string }
  | { readonly escalate: EscalationTarget };

/** Reactions to failed tool calls, and the delays of `backoff`. */
export interface ErrorRoutingOptions extends RetryOptions {
  /**
   * Strategies by error type (`http_403`, `timeout`, …) or by status (`error_transient`, …), the
   * first for the first failure of a cause, and so on; they take the place of the built-in ones of
   * that type. `default` holds for all failures of tools that no other given chain is for. A tool
   * with a `fallback` is followed by it before `report`, also in chains that do not name it.
   */
  readonly chains?: Readonly<Record<string, readonly Strategy[]>>;
  /**
   * Severities of error types and statuses, in place of the built-in ones: `low` (the model
   * corrects its call), `medium` (it may succeed later), `high` (another way is needed), `critical`
   * (a person is needed).
   */
  readonly severities?: Readonly<Record<string, Severity>>;
  /**
   * Strategies by severity, for failures of tools whose type and status no given chain is for. A
   * tool that fails in the same way for the fourth time within ten calls is `high` at least.
   */
  readonly bySeverity?: { readonly [Level in Severity]?: readonly Strategy[] };
  /**
   * Attempts on one cause (the same tool with the same arguments failing in the same way), of all
   * calls together. @default 3
   */
  readonly attempts?: number;
  /**
   * Milliseconds before the first attempt of `backoff`, unless the failure says when. @default
   * 1_000
   */
  readonly initialDelayMs?: number;
  /** Receiver of `escalate`. @default 'caller' */
  readonly escalateTo?: EscalationTarget;
}

const strategyList = [
  'retry',
  'backoff',
  'hint',
  'replan',
  'decompose',
  'raw',
  'fallbackTool',
  'escalate',
  'report',
] as const;
const strategyNames = isOneOf(...strategyList);

function isStrategy(value: unknown): boolean {
  if (strategyNames(value) === undefined) return true;
  if (isObject(value) !== undefined || Object.keys(value as object).length !== 1) return false;
  const { hint, fallbackTool, escalate } = value as {
    hint?: unknown;
    fallbackTool?: unknown;
    escalate?: unknown;
  };
  return (
    isNonEmptyText(hint) === undefined ||
    isNonEmptyText(fallbackTool) === undefined ||
    isOneOf('caller', 'human', 'failures')(escalate) === undefined
  );
}

const strategies = (
  `${strategyNames('')}, { hint: 'text' }, { fallbackTool: 'name' } and { escalate: ` +
  `'caller', 'human' or 'failures' }`
).replace('one of ', '');

const isChains: OptionCheck = (value) => {
  if (isObject(value) !== undefined)
    return (
      "an object that gives error types lists of strategies such as ['backoff', { hint: '…' " +
      "}, 'report']"
    );
  for (const type of Object.keys(value as object)) {
    const problem = chainKeyProblem(type);
    if (problem !== undefined) return `an object with ${problem}`;
  }
  return isLists(value as object);
};

/** Finds a member that is no chain of strategies. */
function isLists(chains: object): string | undefined {
  for (const [type, chain] of Object.entries(chains)) {
    if (!Array.isArray(chain) || chain.length === 0)
      return (
        `an object whose \`${type}\` is a list of strategies, at least ['report'], not ` +
        `${describeValue(chain)}`
      );
    const wrong = chain.findIndex((strategy) => !isStrategy(strategy));
    if (wrong >= 0)
      return (
        `an object whose \`${type}\` is a list of ${strategies}, not ` +
        `${describeStrategy(chain[wrong])}`
      );
  }
  return undefined;
}

function describeStrategy(value: unknown): string {
  return isObject(value) === undefined
    ? `an object with ${Object.keys(value as object).join(' and ') || 'nothing'}`
    : describeValue(value);
}

const isSeverities: OptionCheck = (value) => {
  if (isObject(value) !== undefined)
    return `an object that gives error types one of ${severities.join(', ')}`;
  for (const [type, severity] of Object.entries(value as object)) {
    const problem = chainKeyProblem(type);
    if (problem !== undefined) return `an object with ${problem}`;
    if (!severities.includes(severity as Severity))
      return (
        `an object whose \`${type}\` is one of ${severities.join(', ')}, not ` +
        describeValue(severity)
      );
  }
  return undefined;
};

const isBySeverity: OptionCheck = (value) => {
  const wrong = isObject(value) === undefined ? undefined : 'an object';
  const unknown = Object.keys(wrong === undefined ? (value as object) : {}).find(
    (key) => !severities.includes(key as Severity),
  );
  return unknown === undefined
    ? (wrong ?? isLists(value as object))
    : `an object with the members ${severities.join(', ')}, not \`${unknown}\``;
};

/** Checks of the option `errors`. */
export const errorChecks: OptionChecks<ErrorRoutingOptions> = {
  chains: isChains,
  severities: isSeverities,
  bySeverity: isBySeverity,
  ...retryChecks,
  escalateTo: isOneOf('caller', 'human', 'failures'),
};
