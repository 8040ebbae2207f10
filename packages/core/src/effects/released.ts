import { type CancelScope, isRelease } from '../base/cancel-scope.ts';
import type { Ledger } from '../ledger/ledger.ts';

/**
 * True when this process has released the run, or another process has taken over. Nothing more may
 * be recorded then.
 */
export function isReleased({
  scope,
  ledger,
}: {
  readonly scope: CancelScope;
  readonly ledger: Ledger;
}): boolean {
  return isRelease(scope.reason) || ledger.failure !== undefined;
}
