import { contentHash } from '../../base/hash.ts';
import { LedgerMismatchError } from '../../ledger/errors.ts';
import type { InvocationInput } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Slot } from '../frame/invocation.ts';

export function inputHash(input: InvocationInput | undefined): string | undefined {
  return input === undefined ? undefined : contentHash(input);
}

/** @throws LedgerMismatchError when the ledger recorded something else at this place */
export function assertSame(
  recorded: InvocationRecord,
  { runnable, input }: Pick<Slot, 'runnable' | 'input'>,
): void {
  const { path } = recorded;
  if (recorded.kind !== runnable.kind || recorded.name !== runnable.name) {
    throw new LedgerMismatchError({
      path,
      recorded: `the ${recorded.kind} "${recorded.name}"`,
      found: `the ${runnable.kind} "${runnable.name}"`,
    });
  }
  const found = inputHash(input);
  if (recorded.inputHash !== found) {
    throw new LedgerMismatchError({
      path,
      recorded: `an input with hash ${recorded.inputHash ?? 'none'}`,
      found: `one with hash ${found ?? 'none'}`,
      advice:
        'Give the call a `key` of its own, or make its input the same every time the body runs.',
    });
  }
}
