import type { JsonValue } from '../base/json.ts';
import {
  isCountOrNone,
  isFlag,
  isFunction,
  isObject,
  isText,
  type OptionChecks,
} from '../base/options.ts';
import type { OutputOf, Runnable } from '../session/runnable.ts';
import { checkDefinition, InvalidDefinitionError } from './errors.ts';
import { checkRunnables } from './sequence.ts';

export interface LoopContext<Output = JsonValue> {
  /** Iterations that have ended. */
  readonly iteration: number;
  /** Output of the last iteration. */
  readonly output: Output | undefined;
  /** Session state, and shared scopes under their names. */
  readonly state: Readonly<Record<string, unknown>>;
}

export interface LoopOptions<Part extends Runnable = Runnable, Name extends string = string> {
  readonly name: Name;
  readonly description?: string;
  /** A step finds the output of the iteration before as `ctx.input.data`. */
  readonly runnable: Part;
  /** The loop ends as completed when it is reached. @default 100 */
  readonly maxIterations?: number;
  /** Pure; asked before every iteration, the first one included. @default always true */
  readonly while?: (ctx: LoopContext<OutputOf<Part>>) => boolean;
  /**
   * Waits before every iteration but the first for a message that no prompt has had:
   * `session.addMessage(text, result.yieldedInvocationId)`. @default false
   */
  readonly yields?: boolean;
  readonly version?: string;
}

/** A runnable again and again. The output is that of the last iteration. */
export interface Loop<Output = unknown, Name extends string = string>
  extends Runnable<Output, Name> {
  readonly kind: 'loop';
  readonly runnable: Runnable;
  readonly maxIterations: number;
  readonly while: ((ctx: LoopContext) => boolean) | undefined;
  readonly yields: boolean;
}

const defaultMaxIterations = 100;

const loopOptions: OptionChecks<LoopOptions> = {
  name: isText,
  description: isText,
  runnable: isObject,
  maxIterations: isCountOrNone,
  while: isFunction,
  yields: isFlag,
  version: isText,
};

/**
 * Defines a loop.
 * @throws InvalidDefinitionError
 * @example
 * ```ts
 * import { loop, runtime, step } from 'adjutant';
 *
 * const count = step({
 *   name: 'count',
 *   execute: (ctx) => {
 *     const n = Number(ctx.state['n'] ?? 0) + 1;
 *     ctx.state.update({ n });
 *     return ctx.complete(n);
 *   },
 * });
 * const three = loop({ name: 'three', runnable: count, maxIterations: 3 });
 * console.log((await runtime({ app: 'jobs' }).run(three)).output); // 3
 * ```
 */
export function loop<const Part extends Runnable, const Name extends string = string>(
  options: LoopOptions<Part, Name>,
): Loop<OutputOf<Part>, Name> {
  checkDefinition('loop', options, loopOptions);
  checkRunnables('loop', options.name, [options.runnable]);
  const maxIterations = options.maxIterations ?? defaultMaxIterations;
  if (!Number.isInteger(maxIterations) || maxIterations < 0) {
    throw new InvalidDefinitionError({
      kind: 'loop',
      name: options.name,
      reason: '`maxIterations` must be a whole number from 0',
    });
  }
  return Object.freeze({
    kind: 'loop' as const,
    name: options.name,
    version: options.version,
    description: options.description,
    runnable: options.runnable,
    maxIterations,
    while: options.while as Loop['while'],
    yields: options.yields ?? false,
  });
}
