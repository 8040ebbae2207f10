import { isList, isText, type OptionChecks } from '../base/options.ts';
import type { Runnable } from '../session/runnable.ts';
import { checkDefinition, InvalidDefinitionError } from './errors.ts';

export interface SequenceOptions {
  readonly name: string;
  readonly description?: string;
  /** At least one. */
  readonly runnables: readonly Runnable[];
  readonly version?: string;
}

/**
 * Runnables one after the other. The output is that of the last one that had any; a failure ends
 * the sequence.
 */
export interface Sequence extends Runnable {
  readonly kind: 'sequence';
  readonly runnables: readonly Runnable[];
}

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
 * const print = step({ name: 'print', execute: (ctx) => ctx.complete('printed') });
 * const job = sequence({ name: 'job', runnables: [load, print] });
 * console.log((await runtime({ app: 'jobs' }).run(job)).output); // 'printed'
 * ```
 */
export function sequence(options: SequenceOptions): Sequence {
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

/** @throws InvalidDefinitionError when there is no part, or one is not a runnable */
export function checkRunnables(kind: string, name: string, runnables: readonly unknown[]): void {
  if (!Array.isArray(runnables) || runnables.length === 0)
    throw new InvalidDefinitionError({
      kind,
      name,
      reason: '`runnables` must have at least one part',
    });
  runnables.forEach((part: { name?: unknown; kind?: unknown } | undefined, i) => {
    if (typeof part?.name !== 'string' || typeof part.kind !== 'string') {
      throw new InvalidDefinitionError({
        kind,
        name,
        reason: `\`runnables[${i}]\` is not an agent, step, sequence, parallel or loop`,
      });
    }
  });
}
