import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';

/** A scope that interruptions of the run abort. */
export interface InterruptibleScope {
  readonly scope: CancelScope;
  /** Ends its life: interruptions and aborts of the parent no longer reach it. */
  readonly close: () => void;
}

/**
 * Opens a scope below another one for a model call, or for the wait before it.
 * @param interruptions functions that cut off the model calls of the run
 */
export function interruptible(
  parent: CancelScope,
  interruptions: Set<() => void>,
): InterruptibleScope {
  const scope = new CancelScope(parent);
  const cut = (): void =>
    scope.abort(new AbortReason('interrupted', 'The answer was cut off from outside.'));
  interruptions.add(cut);
  return {
    scope,
    close: () => {
      interruptions.delete(cut);
      scope.close();
    },
  };
}
