import type { ErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import {
  isCount,
  isCountOrNone,
  isFlag,
  isFunction,
  isList,
  isPositive,
  isText,
  type OptionChecks,
} from '../base/options.ts';
import type { InvocationStatus } from '../ledger/event.ts';
import type { OutputOf, Runnable } from '../session/runnable.ts';
import { checkDefinition, InvalidDefinitionError } from './errors.ts';
import { checkRunnables } from './sequence.ts';

/** The end of one branch. */
export interface BranchOutcome {
  readonly name: string;
  readonly status: InvocationStatus;
  readonly output: JsonValue | undefined;
  readonly error: ErrorRecord | undefined;
  /**
   * Session state that the branch wrote, by key; `undefined` for keys that it deleted. Empty for
   * branches that failed.
   */
  readonly changes: Readonly<Record<string, JsonValue | undefined>>;
}

export interface MergeContext {
  /** In the order of declaration. */
  readonly branches: readonly BranchOutcome[];
  /** Session state as it was before the branches. */
  readonly state: Readonly<Record<string, JsonValue>>;
}

/** A branch that failed, in the output of a parallel with `failFast: false`. */
export interface FailedBranch {
  readonly failed: true;
  readonly status: Exclude<InvocationStatus, 'completed' | 'transferred'>;
  readonly error?: ErrorRecord;
}

export interface ParallelOptions<
  Parts extends readonly Runnable[] = readonly Runnable[],
  FailFast extends boolean = boolean,
  Least extends number | undefined = number | undefined,
  Name extends string = string,
  Until extends number | undefined = number | undefined,
> {
  readonly name: Name;
  readonly description?: string;
  /** At least one. */
  readonly runnables: Parts;
  /**
   * Cancel the other branches as soon as one fails. With `false` they end; when as many as
   * `minSuccessful` or `until` say have completed, the output has a `FailedBranch` for each branch
   * that failed.
   * @default true unless `minSuccessful` or `until` is given
   */
  readonly failFast?: FailFast;
  /**
   * Number of branches that must complete, counted when all have settled.
   * @default `until` if it is given, else all
   */
  readonly minSuccessful?: Least;
  /**
   * Number of completed branches at which the others are cancelled. More may have completed by
   * then.
   * @default all branches settle
   */
  readonly until?: Until;
  /** Milliseconds after which a branch is cancelled. @default none */
  readonly branchTimeoutMs?: number;
  /**
   * The session state that stays: a pure function, run again if its result was not recorded.
   * @default the writes of the branches, in the order of declaration; the last write to a key stays
   */
  readonly merge?: (ctx: MergeContext) => Readonly<Record<string, JsonValue | undefined>>;
  readonly version?: string;
}

/**
 * Runnables at the same time. Each writes session state to an overlay of its own; the overlays are
 * joined at the end.
 */
export interface Parallel<
  Output = Readonly<Record<string, JsonValue>>,
  Name extends string = string,
> extends Runnable<Output, Name> {
  readonly kind: 'parallel';
  readonly runnables: readonly Runnable[];
  readonly failFast: boolean;
  /** True when the output tells of branches that failed. */
  readonly showsFailed: boolean;
  readonly minSuccessful: number;
  readonly until: number | undefined;
  readonly branchTimeoutMs: number | undefined;
  readonly merge: ParallelOptions['merge'];
}

/** The output of one branch. A branch without output gives `null`. */
type BranchOutput<Part> =
  undefined extends OutputOf<Part> ? Exclude<OutputOf<Part>, undefined> | null : OutputOf<Part>;

type ByName<Parts extends readonly Runnable[], More> = {
  readonly [Part in Parts[number] as Part['name']]: BranchOutput<Part> | More;
};

/**
 * The outputs of branches by their names. With `failFast: false` a branch that failed stands there
 * as a `FailedBranch`; with `minSuccessful` or `until` alone it is missing.
 */
export type ParallelOutput<
  Parts extends readonly Runnable[],
  FailFast extends boolean,
  Least extends number | undefined,
> = [FailFast] extends [true]
  ? [Least] extends [undefined]
    ? ByName<Parts, never>
    : Partial<ByName<Parts, never>>
  : ByName<Parts, FailedBranch>;

const parallelOptions: OptionChecks<ParallelOptions> = {
  name: isText,
  description: isText,
  runnables: isList,
  failFast: isFlag,
  minSuccessful: isCountOrNone,
  until: isCount,
  branchTimeoutMs: isPositive,
  merge: isFunction,
  version: isText,
};

/**
 * Defines branches that run at the same time. The output maps the name of each completed branch to
 * its output.
 * @throws InvalidDefinitionError
 * @example
 * ```ts
 * import { parallel, runtime, step } from 'adjutant';
 *
 * const left = step({ name: 'left', execute: (ctx) => ctx.complete(1) });
 * const right = step({ name: 'right', execute: (ctx) => ctx.complete(2) });
 * const both = parallel({ name: 'both', runnables: [left, right] });
 * console.log((await runtime({ app: 'jobs' }).run(both)).output);
 * ```
 */
export function parallel<
  const Parts extends readonly Runnable[],
  FailFast extends boolean = true,
  Least extends number | undefined = undefined,
  const Name extends string = string,
  Until extends number | undefined = undefined,
>(
  options: ParallelOptions<Parts, FailFast, Least, Name, Until>,
): Parallel<ParallelOutput<Parts, FailFast, Least | Until>, Name> {
  checkDefinition('parallel', options, parallelOptions);
  const { name, runnables } = options;
  checkRunnables('parallel', name, runnables);
  const { until } = options;
  const most = until ?? runnables.length;
  const minSuccessful = options.minSuccessful ?? most;
  const refuse = (reason: string): never => {
    throw new InvalidDefinitionError({ kind: 'parallel', name, reason });
  };
  if (most > runnables.length)
    refuse(`\`until\` must be a whole number from 1 to ${runnables.length}`);
  if (!Number.isInteger(minSuccessful) || minSuccessful < 0 || minSuccessful > most)
    refuse(`\`minSuccessful\` must be a whole number from 0 to ${most}`);
  return Object.freeze({
    kind: 'parallel' as const,
    name,
    version: options.version,
    description: options.description,
    runnables: Object.freeze([...runnables]),
    failFast: options.failFast ?? (options.minSuccessful === undefined && until === undefined),
    showsFailed: options.failFast === false,
    minSuccessful,
    until,
    branchTimeoutMs: options.branchTimeoutMs,
    merge: options.merge,
  });
}
