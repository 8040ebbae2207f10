import type { RunnableKind } from '../ledger/event.ts';

declare const outputType: unique symbol;

/**
 * What the ledger records of a runnable. `Output` is the type of what an invocation of it gives.
 */
export interface Runnable<Output = unknown> {
  readonly kind: RunnableKind;
  /** Unique among its siblings and in the app: it is how the ledger finds the definition again. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly [outputType]?: Output;
}

/** The type of what an invocation of a runnable gives. */
export type OutputOf<R> = R extends Runnable<infer Output> ? Output : never;

const runnableKinds: ReadonlySet<unknown> = new Set<RunnableKind>([
  'agent',
  'step',
  'sequence',
  'parallel',
  'loop',
]);

/** Whether a value is a definition made by `agent`, `step`, `sequence`, `parallel` or `loop`. */
export function isRunnable(value: unknown): value is Runnable {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.isFrozen(value) &&
    runnableKinds.has((value as { kind?: unknown }).kind) &&
    'name' in value
  );
}
