import { defined } from '../../../base/defined.ts';
import { confidenceIn } from '../../../ledger/folds/confidence.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { CallResult } from '../../../session/body-context.ts';

/**
 * Returns the result of an ended child, as its caller gets it.
 * @throws TypeError when the child has not ended
 */
export function callResult<Output>(
  invocationId: string,
  record: InvocationRecord,
  { invocations, resolve }: Ledger,
): CallResult<Output> {
  const { status, output, error } = record;
  if (status === 'open' || status === 'yielded')
    throw new TypeError(`"${record.path}" has not ended.`);
  const confidence = confidenceIn(record, invocations, resolve);
  return {
    invocationId,
    status,
    output: output as Output | undefined,
    ...defined({ confidence, error }),
  };
}
