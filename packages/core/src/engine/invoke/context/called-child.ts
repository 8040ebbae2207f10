import type { InvocationInput } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import type { CallOptions, CallResult } from '../../../session/body-context.ts';
import type { Runnable } from '../../../session/runnable.ts';
import type { BodyWork } from './body-work.ts';
import { callResult } from './call-result.ts';
import { type StartedChild, startChild } from './child-start.ts';

/** Runs a child and returns its outcome; its writes are visible to the body from then on. */
export async function callChild<Output>(
  work: BodyWork,
  runnable: Runnable<Output>,
  input: InvocationInput | undefined,
  options: CallOptions,
): Promise<CallResult<Output>> {
  const { children } = work;
  const { scope } = children;
  const child = startChild(work, { mode: 'call', runnable, input, options, scope });
  children.add(child.ended);
  const record = await recordOf(work, child);
  return callResult<Output>(child.path, record, work.body.place.run.ledger);
}

/** Waits for the end of a child in its recorded order; the body then sees its writes. */
export async function recordOf(work: BodyWork, child: StartedChild): Promise<InvocationRecord> {
  const { givenFrom } = child;
  const turn = givenFrom === undefined ? undefined : work.inRecordedOrder(givenFrom);
  const record = await child.ended;
  if (record === undefined) return work.release.neverReturn();
  const delay = turn ?? work.afterRecorded();
  if (delay !== undefined) await delay;
  try {
    await work.landed.assertLanded(work.keyOf(child.path));
  } finally {
    work.body.writes.adopt(record);
  }
  return record;
}
