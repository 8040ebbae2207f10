import { AdjutantError } from '../../base/error.ts';
import type { Actor, EventDraft } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** An invocation whose outcome is final. */
export class NotReopenableError extends AdjutantError {
  constructor(data: { path: string; reason: string }) {
    super('not_reopenable', `"${data.path}" cannot be reopened: ${data.reason}.`, data);
  }
}

export interface ReopenOptions {
  /**
   * Path of the invocation that failed or was cancelled.
   * @default the last run, with every part of it that failed or was cancelled
   */
  readonly path?: string;
  /** Reason for the ledger. */
  readonly reason: string;
  /** @default 'operator' */
  readonly by?: Actor;
}

/**
 * Returns the events that open a failed or cancelled invocation again. Its outcome no longer
 * counts, and neither do those of the invocations around it. Invocations below it that completed
 * stay completed.
 * @throws NotReopenableError
 */
export function reopenDrafts(
  { invocations }: Pick<Ledger, 'invocations'>,
  { path, reason, by = 'operator' }: ReopenOptions,
): readonly EventDraft[] {
  const { byPath, roots } = invocations;
  const target = path ?? roots.findLast((root) => byPath.get(root)?.mode === 'root');
  const record = target === undefined ? undefined : byPath.get(target);
  if (target === undefined || record === undefined)
    throw new NotReopenableError({ path: target ?? '', reason: 'there is no such invocation' });
  assertFailed(record);
  const above: InvocationRecord[] = [];
  for (
    let parent = byPath.get(record.parent ?? '');
    parent !== undefined;
    parent = byPath.get(parent.parent ?? '')
  ) {
    if (parent.end === undefined) continue;
    if (parent.status !== 'error' && parent.status !== 'cancelled') {
      throw new NotReopenableError({
        path: target,
        reason: `"${parent.path}" around it has ended as ${parent.status}`,
      });
    }
    above.unshift(parent);
  }
  const reopened = [...above, record, ...(path === undefined ? failedParts(record, byPath) : [])];
  return reopened.map(({ path: invocationId }) => ({
    type: 'invocation_reopen',
    by,
    invocationId,
    reason,
  }));
}

function assertFailed({ path, end, status }: InvocationRecord): void {
  if (end === undefined) throw new NotReopenableError({ path, reason: 'it has not ended' });
  if (status !== 'error' && status !== 'cancelled')
    throw new NotReopenableError({ path, reason: `it has ended as ${status}` });
}

/**
 * Parts of sequences, parallels and loops that failed or were cancelled. Children that code called
 * are left out: the code has dealt with their failures.
 */
function failedParts(
  record: InvocationRecord,
  byPath: ReadonlyMap<string, InvocationRecord>,
): readonly InvocationRecord[] {
  return record.children.flatMap((path) => {
    const child = byPath.get(path);
    const failed =
      child?.mode === 'child' && (child.status === 'error' || child.status === 'cancelled');
    return child !== undefined && failed ? [child, ...failedParts(child, byPath)] : [];
  });
}
