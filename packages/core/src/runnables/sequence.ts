import { isList, isText, type OptionChecks } from '../base/options.ts';
import { anyRunnable, type OutputOf, type Runnable } from '../session/runnable.ts';
import { checkDefinition, InvalidDefinitionError } from './errors.ts';
import type { DataOf } from './step.ts';

export interface SequenceOptions<
  Parts extends readonly Runnable[] = readonly Runnable[],
  Name extends string = string,
> {
  readonly name: Name;
  readonly description?: string;
  /** At least one. The output of each is the data of the next (`ctx.input.data` of a step). */
  readonly runnables: Parts;
  readonly version?: string;
}

/**
 * Runnables one after the other. The output is that of the last one that had any; a failure ends
 * the sequence.
 */
export interface Sequence<Output = unknown, Name extends string = string>
  extends Runnable<Output, Name> {
  readonly kind: 'sequence';
  readonly runnables: readonly Runnable[];
}

/** The output of the last part, or of the last part before it that had any. */
export type SequenceOutput<Parts extends readonly Runnable[]> = number extends Parts['length']
  ? OutputOf<Parts[number]>
  : Parts extends readonly [...infer Before extends readonly Runnable[], infer Last]
    ? undefined extends OutputOf<Last>
      ? Exclude<OutputOf<Last>, undefined> | SequenceOutput<Before>
      : OutputOf<Last>
    : undefined;

/** Members that data must have and that the given type has not. */
type Lacking<Given, Data> = string extends keyof Data
  ? never
  : Exclude<
      { [Key in keyof Data]-?: undefined extends Data[Key] ? never : Key }[keyof Data],
      Given extends object ? keyof Given : never
    >;

/**
 * A part, or what it lacks: data of the given type could never fit its schema. Types that are only
 * wider than the schema may fit.
 */
type Fitting<Part, Given> = unknown extends Given
  ? Part
  : [Given] extends [DataOf<Part>]
    ? Part
    : DataOf<Part> extends object
      ? [Lacking<Given, DataOf<Part>>] extends [never]
        ? Part
        : { readonly 'the parts before do not give': Lacking<Given, DataOf<Part>> }
      : Part;

/** The parts of a sequence, of which each takes what the part before it gives. */
type FittingParts<Parts extends readonly unknown[], Given = unknown> = Parts extends readonly [
  infer First,
  ...infer Rest,
]
  ? [Fitting<First, Given>, ...FittingParts<Rest, DataAfter<First, Given>>]
  : Parts;

/** A part without output passes on what it was given. */
type DataAfter<Part, Given> =
  undefined extends OutputOf<Part> ? Exclude<OutputOf<Part>, undefined> | Given : OutputOf<Part>;

const sequenceOptions: OptionChecks<SequenceOptions> = {
  name: isText,
  description: isText,
  runnables: isList,
  version: isText,
};

/**
 * Defines a sequence.
 * @throws InvalidDefinitionError
 * @example
 * ```ts
 * import { runtime, sequence, step } from 'adjutant';
 *
 * const load = step({ name: 'load', execute: (ctx) => ctx.complete('a text') });
 * const print = step({
 *   name: 'print',
 *   execute: (ctx) => ctx.complete(`printed: ${ctx.input?.data}`),
 * });
 * const job = sequence({ name: 'job', runnables: [load, print] });
 * console.log((await runtime({ app: 'jobs' }).run(job)).output); // 'printed: a text'
 * ```
 */
export function sequence<
  const Parts extends readonly Runnable[],
  const Name extends string = string,
>(
  options: SequenceOptions<Parts, Name> & { readonly runnables: FittingParts<Parts> },
): Sequence<SequenceOutput<Parts>, Name> {
  checkDefinition('sequence', options, sequenceOptions);
  checkRunnables('sequence', options.name, options.runnables);
  return Object.freeze({
    kind: 'sequence' as const,
    name: options.name,
    version: options.version,
    description: options.description,
    runnables: Object.freeze([...options.runnables]),
  });
}

/**
 * @param option option that has the parts
 * @throws InvalidDefinitionError when there is no part, or one is not a runnable
 */
export function checkRunnables(
  kind: string,
  name: string,
  runnables: readonly unknown[],
  option = 'runnables',
): void {
  if (!Array.isArray(runnables) || runnables.length === 0)
    throw new InvalidDefinitionError({
      kind,
      name,
      reason: `\`${option}\` must have at least one part`,
    });
  runnables.forEach((part: { name?: unknown; kind?: unknown } | undefined, i) => {
    if (typeof part?.name !== 'string' || typeof part.kind !== 'string') {
      throw new InvalidDefinitionError({
        kind,
        name,
        reason: `\`${option}[${i}]\` is not ${anyRunnable}`,
      });
    }
  });
}
