import {
  findInvalidOption,
  isCount,
  isFlag,
  isFunction,
  isGroup,
  isNonEmptyText,
  isObject,
  isPositive,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import { runtimeLimitChecks } from '../engine/frame/run-options.ts';
import { isNamedModel, wrongName } from '../models/named-model.ts';
import { Runtime } from '../runtime.ts';
import { anyRunnable, isRunnable } from '../session/runnable.ts';
import { InvalidEvalError } from './errors.ts';
import type { EvalOptions, EvalVariant, OwnAppVariant, SharedAppVariant } from './eval-options.ts';
import { isShare } from './scorers/own-scorer.ts';
import type { Scorer } from './scorers/scorer.ts';

const isApp: OptionCheck = (value) =>
  typeof value === 'function' || value instanceof Runtime
    ? undefined
    : 'a runtime, or a function that makes one';
const isOneRunnable: OptionCheck = (value) => (isRunnable(value) ? undefined : anyRunnable);
const sharedApp: OptionChecks<SharedAppVariant> = {
  name: isNonEmptyText,
  version: isNonEmptyText,
  app: isApp,
  runnable: isOneRunnable,
};
const ownApp: OptionChecks<OwnAppVariant> = {
  name: isNonEmptyText,
  version: isNonEmptyText,
  open: isFunction,
};

const isVariant: OptionCheck = (value) => {
  if (isObject(value) !== undefined)
    return 'an object with `name`, and `app` and `runnable`, or `open`';
  const isOwn = Object.hasOwn(value as object, 'open');
  const needed = isOwn ? { name: null, open: null } : { name: null, app: null, runnable: null };
  const given = { ...needed, ...(value as object) };
  const invalid = isOwn ? findInvalidOption(given, ownApp) : findInvalidOption(given, sharedApp);
  return invalid?.within;
};

const isListWith = (what: string, check: OptionCheck): OptionCheck => {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0) return `a list of ${what}`;
    const at = value.findIndex((one) => check(one) !== undefined);
    return at < 0
      ? undefined
      : `a list of ${what}, and what is at place ${at} must be ${check(value[at])}`;
  };
};

const isScorer: OptionCheck = (value) => {
  const { name, threshold, score } = (value ?? {}) as Partial<Scorer>;
  const fits =
    isNonEmptyText(name) === undefined &&
    isShare(threshold) === undefined &&
    typeof score === 'function';
  return fits ? undefined : 'a scorer, such as toolTrajectory() or scorer({ … })';
};

const isDataset: OptionCheck = (value) => {
  const fits =
    typeof value === 'string' ? value !== '' : typeof value === 'object' && value !== null;
  return fits ? undefined : 'a dataset, a list of cases, or the path or URL of a file';
};

const isConfidence: OptionCheck = (value) =>
  typeof value === 'number' && value > 0 && value < 1 ? undefined : 'a number between 0 and 1';
const isRunId: OptionCheck = (value) =>
  typeof value === 'string' && /^[\w.-]{1,100}$/.test(value)
    ? undefined
    : 'a string of 1 to 100 letters, digits, dots, dashes and underscores';
const {
  timeoutMs: _timeout,
  waitingRunsPerUser: _waiting,
  waitingRunsWithoutUser: _waitingWithout,
  ...runLimits
} = runtimeLimitChecks;

const checks: OptionChecks<EvalOptions> = {
  name: isNonEmptyText,
  dataset: isDataset,
  variants: isListWith('variants', isVariant),
  scorers: isListWith('scorers', isScorer),
  trials: isCount,
  concurrency: isCount,
  threshold: isShare,
  timeoutMs: isPositive,
  limits: isGroup(runLimits),
  only: isFunction,
  userModel: isNamedModel,
  scopes: isFunction,
  passK: isListWith('whole numbers from 1', isCount),
  confidence: isConfidence,
  runId: isRunId,
  continue: isFlag,
  store: (value) =>
    typeof (value as { for?: unknown } | null)?.for === 'function'
      ? undefined
      : "a store such as sqlite('file.db')",
  onProgress: isFunction,
  signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
  ports: isGroup({ clock: isObject, ids: isObject }),
};

/** @throws InvalidEvalError */
export function checkEvalOptions(options: EvalOptions): void {
  const isGiven = isObject(options) === undefined;
  const needed = isGiven
    ? {
        ...options,
        name: options.name ?? null,
        dataset: options.dataset ?? null,
        variants: options.variants ?? null,
      }
    : options;
  const invalid = findInvalidOption(needed, checks as OptionChecks<object>);
  const name = isGiven && typeof options.name === 'string' ? { name: options.name } : {};
  if (invalid !== undefined) throw new InvalidEvalError({ ...name, reason: invalid.reason });
  const refuse = (reason: string): never => {
    throw new InvalidEvalError({ ...name, reason });
  };
  const wrong = wrongName(options.userModel);
  if (wrong !== undefined) refuse(`\`userModel\`: ${wrong}`);
  const variant = firstTwice(options.variants);
  if (variant !== undefined) refuse(`two variants have the name "${variant}"`);
  const scorer = firstTwice(options.scorers ?? []);
  if (scorer !== undefined)
    refuse(`two scorers have the name "${scorer}"; give one of them another \`name\``);
  const clash = clashOf(options.variants);
  if (clash !== undefined) refuse(clash);
  if (options.continue === true && options.runId !== undefined)
    refuse(
      '`runId` names the run that goes on, so that `continue` says nothing: leave one of them out',
    );
  const tooMany = options.passK?.find((k) => k > (options.trials ?? 1));
  if (tooMany !== undefined)
    refuse(`\`passK\` has ${tooMany}, and each case has ${options.trials ?? 1} trials`);
}

function firstTwice(named: readonly { readonly name: string }[]): string | undefined {
  const seen = new Set<string>();
  for (const { name } of named) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** An app finds what it runs by name. */
function clashOf(variants: readonly EvalVariant[]): string | undefined {
  for (const [i, one] of variants.entries()) {
    for (const other of variants.slice(i + 1)) {
      if (
        'open' in one ||
        'open' in other ||
        one.app !== other.app ||
        one.runnable === other.runnable
      )
        continue;
      if (one.runnable.name !== other.runnable.name) continue;
      return (
        `the variants "${one.name}" and "${other.name}" are two different runnables named ` +
        `"${one.runnable.name}" in one app; give each variant an app of its own, which may ` +
        'have the same store'
      );
    }
  }
  return undefined;
}
