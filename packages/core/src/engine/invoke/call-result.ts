import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { CallResult } from '../../session/body-context.ts';

/** What a body gets of a child that has ended. */
export function callResult<Output>(
  invocationId: string,
  record: InvocationRecord,
): CallResult<Output> {
  const { status, output, error } = record;
  if (status === 'open' || status === 'yielded')
    throw new TypeError(`"${record.path}" has not ended.`);
  return {
    invocationId,
    status,
    output: output as Output | undefined,
    ...(error === undefined ? {} : { error }),
  };
}
