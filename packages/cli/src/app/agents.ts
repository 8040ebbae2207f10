import type { Agent, Loop, Parallel, Runnable, Sequence, Step } from 'adjutant';
import type { Composed } from 'adjutant/plan';

type AnyRunnable = Agent | Step | Sequence | Parallel | Loop | Composed;

/**
 * Returns the runnables that a goal can be given: those that are not parts of others. Of those that
 * are parts of each other, the first one counts.
 */
export function agentsOf(runnables: readonly Runnable[]): readonly Runnable[] {
  const parts = new Set(runnables.flatMap(partsOf));
  const found = runnables.filter((one) => !parts.has(one));
  const reached = new Set<Runnable>();
  const reach = (one: Runnable): void => {
    if (reached.has(one)) return;
    reached.add(one);
    partsOf(one).forEach(reach);
  };
  found.forEach(reach);
  for (const one of runnables) {
    if (reached.has(one)) continue;
    found.push(one);
    reach(one);
  }
  return found;
}

/**
 * Returns the runnables that a runnable contains or hands over to, by their public members: the app
 * may have made them with another copy of the package.
 */
export function partsOf(given: Runnable): readonly Runnable[] {
  const runnable = given as AnyRunnable;
  switch (runnable.kind) {
    case 'sequence':
    case 'parallel':
      return runnable.runnables;
    case 'loop':
      return [runnable.runnable];
    case 'agent':
      return runnable.handoffs.map(targetOf);
    case 'plan':
    case 'graph':
    case 'router':
      return runnable.parts;
    case 'step':
      return [];
  }
}

/** Returns the target of a handoff. A function that gives a target is called. */
function targetOf(handoff: Agent['handoffs'][number]): Runnable {
  const to = 'to' in handoff ? handoff.to : handoff;
  return typeof to === 'function' ? ((to as () => unknown)() as Runnable) : to;
}

const kinds: ReadonlySet<unknown> = new Set([
  ...['agent', 'step', 'sequence', 'parallel', 'loop', 'plan', 'graph', 'router'],
]);

/** True for a runnable, also one of another copy of the package. */
export function isRunnable(value: unknown): value is Runnable {
  return (
    typeof value === 'object' &&
    value !== null &&
    kinds.has((value as { readonly kind?: unknown }).kind) &&
    typeof (value as { readonly name?: unknown }).name === 'string'
  );
}

/** Name of the model of an agent, as `provider:model`. `undefined`: it is no agent. */
export function modelOf(runnable: Runnable): string | undefined {
  if (runnable.kind !== 'agent') return undefined;
  const { model } = runnable as Agent;
  return `${model.provider}:${model.modelId}`;
}
