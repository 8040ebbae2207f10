import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Step } from '../../runnables/step.ts';

/**
 * True when an invocation belongs to the lifecycle of the app and not to the runnable. No
 * definition and no key has a `~`.
 */
export function isPartOfLifecycle(path: string): boolean {
  return path.startsWith('~', path.lastIndexOf('/') + 1);
}

/**
 * Returns the `seq` of the last event before the body of an invocation. The preparation of a run
 * comes before its body.
 */
export function seqBeforeBody(
  { invocations }: Ledger,
  { start, children }: InvocationRecord,
): number {
  let seq = start.seq;
  for (const path of children) {
    const record = isPartOfLifecycle(path) ? invocations.byPath.get(path) : undefined;
    if (record?.mode === 'child' && record.end !== undefined) seq = Math.max(seq, record.end.seq);
  }
  return seq;
}

/**
 * Steps of an app's lifecycle. Their names and paths begin with a sign that no definition and no
 * key can have.
 */
export interface Lifecycle {
  readonly prepare: Step | undefined;
  readonly admit: Step | undefined;
  readonly postProcess: Step | undefined;
}
