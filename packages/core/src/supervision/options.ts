import {
  isCount,
  isFlag,
  isGroup,
  isNotNegative,
  isOneOf,
  isPositive,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import { defaultRetry } from '../base/retry-options.ts';
import { type ErrorRoutingOptions, errorChecks } from './errors/error-routing-options.ts';
import { type Guardrail, isListOfGuardrails } from './guardrail.ts';

export type {
  ErrorRoutingOptions,
  EscalationTarget,
  Strategy,
} from './errors/error-routing-options.ts';

/**
 * Thresholds for loops. Each counts from the first of the equal calls: `warnAt: 3` warns with the
 * result of the third.
 */
export interface LoopDetectionOptions {
  /** Calls that are looked back at. @default 30 */
  readonly window?: number;
  /** Equal calls with equal results after which the model is warned. @default 3 */
  readonly warnAt?: number;
  /** Equal calls with equal results of which this one is not made any more. @default 5 */
  readonly blockAt?: number;
  /**
   * Equal calls with changing results, as in healthy polling, after which the model is warned.
   * @default 10
   */
  readonly pollWarnAt?: number;
  /** Equal calls with changing results of which this one is not made any more. @default 20 */
  readonly pollBlockAt?: number;
  /** Rounds in a row without anything new after which the model is warned. @default 6 */
  readonly stallWarnAt?: number;
  /**
   * Rounds in a row without anything new of which this one's calls of the same tools are not made
   * any more. @default 12
   */
  readonly stallBlockAt?: number;
  /** Reaction when the model repeats refused calls in its next round. @default 'answer' */
  readonly onLoop?: 'answer' | 'fail';
}

export interface ResultCheckOptions {
  /** Marks empty results of tools that only read. @default true */
  readonly empty?: boolean;
  /** Marks pages with a captcha or a refusal in place of the content. @default true */
  readonly blockPages?: boolean;
  /**
   * Marks results of searches in which none of the words occurs that were searched for. @default
   * true
   */
  readonly relevance?: boolean;
  /** Confidence below which the model is told of the doubt. @default 0.5 */
  readonly lowConfidence?: number;
}

export interface CircuitBreakerOptions {
  /** Failures of a tool in a row after which it is not called for a while. @default 5 */
  readonly failures?: number;
  /**
   * Milliseconds after which one call is let through to see whether it works again. @default 30_000
   */
  readonly resetAfterMs?: number;
}

/** Supervision of an agent. Everything is on unless it is `false`. */
export interface SupervisionOptions {
  readonly loops?: LoopDetectionOptions | false;
  readonly errors?: ErrorRoutingOptions | false;
  readonly results?: ResultCheckOptions | false;
  /**
   * Checks of input and output, besides those of the runtime and the defaults. A guardrail replaces
   * an earlier one of its name. `false` means none at all, not even the defaults.
   */
  readonly guardrails?: readonly Guardrail[] | false;
  /**
   * Counts failures over the whole runtime. For an agent only `false` is of use: its calls neither
   * count nor are held back.
   */
  readonly circuitBreaker?: CircuitBreakerOptions | false;
}

const loopGroup: OptionChecks<LoopDetectionOptions> = {
  window: (value) =>
    isCount(value) ?? ((value as number) <= 100 ? undefined : 'a whole number from 1 to 100'),
  warnAt: isCount,
  blockAt: isCount,
  pollWarnAt: isCount,
  pollBlockAt: isCount,
  stallWarnAt: isCount,
  stallBlockAt: isCount,
  onLoop: isOneOf('answer', 'fail'),
};

const thresholdPairs = [
  ['warnAt', 'blockAt'],
  ['pollWarnAt', 'pollBlockAt'],
  ['stallWarnAt', 'stallBlockAt'],
] as const;

/** Finds options that contradict each other, so that one would have no effect. */
const isLoops: OptionCheck = (value) => {
  const wrong = isGroup(loopGroup)(value);
  if (wrong !== undefined) return wrong;
  const options = value as LoopDetectionOptions;
  const { window, blockAt, pollBlockAt } = options;
  const isAbove = (low: number | undefined, high: number | undefined) =>
    low !== undefined && high !== undefined && low > high;
  for (const [warn, block] of thresholdPairs) {
    if (isAbove(options[warn], options[block]))
      return (
        `an object whose \`${warn}\` is at most its \`${block}\` (${options[block]}), not ` +
        `${options[warn]}`
      );
  }
  for (const [key, at] of Object.entries({ blockAt, pollBlockAt })) {
    // The call that is looked at is not one of those that are looked back at.
    if (isAbove(at, window === undefined ? undefined : window + 1)) {
      return (
        `an object whose \`window\` holds the calls before \`${key}\` (at least ` +
        `${(at as number) - 1}), not ${window}`
      );
    }
  }
  return undefined;
};

const resultChecks: OptionChecks<ResultCheckOptions> = {
  empty: isFlag,
  blockPages: isFlag,
  relevance: isFlag,
  lowConfidence: (value) =>
    isNotNegative(value) ?? ((value as number) <= 1 ? undefined : 'a number from 0 to 1'),
};

const breakerChecks: OptionChecks<CircuitBreakerOptions> = {
  failures: isCount,
  resetAfterMs: isPositive,
};

function orFalse(check: OptionCheck): OptionCheck {
  return (value) => {
    const expected = value === false ? undefined : check(value);
    // The hint about `false` does not fit faults inside an object.
    return expected === undefined || typeof value === 'object' ? expected : `${expected}, or false`;
  };
}

const supervisionChecks: OptionChecks<SupervisionOptions> = {
  loops: orFalse(isLoops),
  errors: orFalse(isGroup(errorChecks)),
  results: orFalse(isGroup(resultChecks)),
  guardrails: orFalse(isListOfGuardrails),
  circuitBreaker: orFalse(isGroup(breakerChecks)),
};

/** Requirement on the option `supervision`. */
export const isSupervision: OptionCheck = orFalse(isGroup(supervisionChecks));

/**
 * Requirement on the option of an agent. Circuits count over the whole runtime, so numbers of an
 * agent would have no effect.
 */
export const isSupervisionOfAgent: OptionCheck = orFalse(
  isGroup<SupervisionOptions>({
    ...supervisionChecks,
    circuitBreaker: (value) =>
      value === false
        ? undefined
        : 'false (only runtime({ supervision }) can set its numbers, since it counts over ' +
          'the whole runtime)',
  }),
);

/** Supervision with the defaults filled in; `undefined` is what is off. */
export interface Supervision {
  readonly loops: Required<LoopDetectionOptions> | undefined;
  readonly errors: Required<ErrorRoutingOptions> | undefined;
  readonly results: Required<ResultCheckOptions> | undefined;
  readonly guardrails: readonly Guardrail[];
  /** True when the runtime's circuit breakers hold for the agent. */
  readonly circuitBreaker: boolean;
}

const defaultLoops: Required<LoopDetectionOptions> = {
  window: 30,
  warnAt: 3,
  blockAt: 5,
  pollWarnAt: 10,
  pollBlockAt: 20,
  stallWarnAt: 6,
  stallBlockAt: 12,
  onLoop: 'answer',
};
const defaultErrors: Required<ErrorRoutingOptions> = {
  chains: {},
  severities: {},
  bySeverity: {},
  ...defaultRetry,
  maxDelayMs: 30_000,
  escalateTo: 'caller',
};
const defaultResults: Required<ResultCheckOptions> = {
  empty: true,
  blockPages: true,
  relevance: true,
  lowConfidence: 0.5,
};

type Given = SupervisionOptions | false | undefined;

/**
 * Supervision of an agent: its own options before those of its runtime, option by option. Nothing
 * is on where one of them says `false`, unless the agent says more.
 */
export function resolveSupervision(
  runtime: Given,
  agent: Given,
  defaultGuardrails: readonly Guardrail[],
): Supervision {
  return Object.freeze({
    loops: resolved('loops', runtime, agent, defaultLoops),
    errors: resolvedErrors(runtime, agent),
    results: resolved('results', runtime, agent, defaultResults),
    guardrails: resolvedGuardrails(runtime, agent, defaultGuardrails),
    circuitBreaker:
      part('circuitBreaker', agent) !== false && part('circuitBreaker', runtime) !== false,
  });
}

function part<Key extends keyof SupervisionOptions>(
  key: Key,
  given: Given,
): SupervisionOptions[Key] | false | undefined {
  return given === false ? false : given?.[key];
}

function resolved<Key extends 'loops' | 'errors' | 'results', Options extends object>(
  key: Key,
  runtime: Given,
  agent: Given,
  defaults: Required<Options>,
): Required<Options> | undefined {
  const own = part(key, agent);
  const shared = part(key, runtime);
  if (own === false || (own === undefined && shared === false)) return undefined;
  return Object.freeze({
    ...defaults,
    ...definedOf(shared),
    ...definedOf(own),
  }) as Required<Options>;
}

function definedOf(options: object | false | undefined): object {
  return options === false || options === undefined
    ? {}
    : Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function resolvedErrors(runtime: Given, agent: Given): Required<ErrorRoutingOptions> | undefined {
  const errors = resolved('errors', runtime, agent, defaultErrors);
  if (errors === undefined) return undefined;
  const shared = part('errors', runtime);
  const own = part('errors', agent);
  const joined = <Key extends 'chains' | 'severities' | 'bySeverity'>(key: Key) => ({
    ...(shared ? shared[key] : {}),
    ...(own ? own[key] : {}),
  });
  return Object.freeze({
    ...errors,
    chains: joined('chains'),
    severities: joined('severities'),
    bySeverity: joined('bySeverity'),
  });
}

function resolvedGuardrails(
  runtime: Given,
  agent: Given,
  defaults: readonly Guardrail[],
): readonly Guardrail[] {
  const shared = part('guardrails', runtime);
  const own = part('guardrails', agent);
  if (own === false) return [];
  const all = [...(shared === false ? [] : [...defaults, ...(shared ?? [])]), ...(own ?? [])];
  // A name that is given again means that guardrail with other options: two of them would say the
  // same twice.
  return Object.freeze(
    all.filter(
      ({ name }, index) => !all.some((other, later) => later > index && other.name === name),
    ),
  );
}
