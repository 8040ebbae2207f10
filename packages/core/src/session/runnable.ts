import type { RunnableKind } from '../ledger/event.ts';

declare const outputType: unique symbol;

/**
 * The part of a runnable that the ledger records. `Output` is the type of its result, `Name` that
 * of its name, which is a key of the output of a `parallel`.
 */
export interface Runnable<Output = unknown, Name extends string = string> {
  readonly kind: RunnableKind;
  /** Name, unique among its siblings and in the app. The ledger finds the definition by it. */
  readonly name: Name;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly [outputType]?: Output;
}

/** The type of the result of a runnable. */
export type OutputOf<R> = R extends { readonly [outputType]?: infer Output } ? Output : never;

/** Kinds of runnables, for messages about a value that is none. */
export const anyRunnable = 'an agent, step, sequence, parallel, loop, plan, graph or router';

const runnableKinds: ReadonlySet<unknown> = new Set<RunnableKind>([
  'agent',
  'step',
  'sequence',
  'parallel',
  'loop',
  'plan',
  'graph',
  'router',
]);

/**
 * Checks that a value is a definition made by `agent`, `step`, `sequence`, `parallel`, `loop`,
 * `plan`, `graph` or `router`.
 */
export function isRunnable(value: unknown): value is Runnable {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.isFrozen(value) &&
    runnableKinds.has((value as { kind?: unknown }).kind) &&
    'name' in value
  );
}
