import type { Composed } from '../../runnables/composed.ts';
import type { BodyEnd } from '../frame/invocation.ts';
import type { BodyFrame } from '../frame/run-context.ts';

/** Member of a composed runnable with its body: no option, and no reader of definitions sees it. */
const bodyMember: unique symbol = Symbol('adjutant.body');

/** Runs the body of a composed runnable; `undefined` when the run was released. */
type ComposedBody = (frame: BodyFrame) => Promise<BodyEnd | undefined>;

/** Completes the definition of a composed runnable. */
export function withBody<Definition extends Composed>(
  definition: Definition,
  body: (definition: Definition, frame: BodyFrame) => Promise<BodyEnd | undefined>,
): Definition {
  const made: Definition = Object.freeze({
    ...definition,
    [bodyMember]: (frame: BodyFrame) => body(made, frame),
  });
  return made;
}

/** Runs the body that a composed runnable brings along. */
export function runComposed(runnable: Composed, frame: BodyFrame): Promise<BodyEnd | undefined> {
  return (runnable as Composed & { readonly [bodyMember]: ComposedBody })[bodyMember](frame);
}
