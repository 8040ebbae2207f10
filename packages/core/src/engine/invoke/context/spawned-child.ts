import { AbortReason, CancelScope } from '../../../base/cancel-scope.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../../ledger/folds/invocation-fold.ts';
import type { CallOptions, CallResult, SpawnHandle } from '../../../session/body-context.ts';
import type { Runnable } from '../../../session/runnable.ts';
import { inFlightOn } from '../../frame/in-flight.ts';
import { inputNow } from '../input-contract.ts';
import { outcomeSeq } from '../state/recorded-writes.ts';
import type { BodyPlace } from './body-place.ts';
import type { BodyWork } from './body-work.ts';
import { callResult } from './call-result.ts';
import { type StartedChild, startChild } from './child-start.ts';

/** Starts a child beside the body. */
export function spawnChild<Output>(
  work: BodyWork,
  runnable: Runnable<Output>,
  options: CallOptions,
): SpawnHandle<Output> {
  const { children } = work;
  const { place } = work.body;
  // The scope lies below the run and is tied to its owner, so that the child can be detached.
  const scope = new CancelScope(place.run.detached.scope);
  const input = inputNow(runnable, options);
  const child = startChild(work, { mode: 'spawn', runnable, input, options, scope });
  child.ended.catch(() => undefined);
  const isFree = isDetached(place, child.path);
  const untie = isFree
    ? undefined
    : (place.ownerScope ?? children.scope).onAbort((reason) => scope.abort(reason));
  const forget = isFree || place.ownerScope !== undefined ? undefined : children.add(child.ended);
  return {
    invocationId: child.path,
    wait: () => resultOf<Output>(work, child),
    abort: (reason) =>
      scope.abort(
        new AbortReason('cancelled', reason ?? `${runnable.name} was aborted by its caller.`),
      ),
    detach: () => {
      forget?.();
      untie?.();
      detach(place, child);
    },
  };
}

/** Starts a child that nothing waits for. */
export function dispatchChild(
  work: BodyWork,
  runnable: Runnable,
  options: CallOptions,
): { readonly invocationId: string } {
  const { run } = work.body.place;
  const { path, ended } = startChild(work, {
    mode: 'dispatch',
    runnable,
    input: inputNow(runnable, options),
    options,
    scope: run.detached.scope,
  });
  run.detached.add(path, ended);
  return { invocationId: path };
}

/** Waits for the outcome of a spawned child. */
async function resultOf<Output>(work: BodyWork, child: StartedChild): Promise<CallResult<Output>> {
  const { place, seqBefore, writes } = work.body;
  const givenFrom = outcomeSeq(place.run.ledger, child.path);
  const isRecorded = givenFrom !== undefined && givenFrom <= seqBefore;
  const turn = isRecorded ? work.inRecordedOrder(givenFrom) : undefined;
  const record = await waitedFor(place, child);
  if (record === undefined) return work.release.neverReturn();
  const delay = turn ?? work.afterRecorded();
  if (delay !== undefined) await delay;
  try {
    await work.landed.assertLanded();
  } finally {
    writes.adopt(record);
  }
  return callResult<Output>(child.path, record, place.run.ledger);
}

/** Waits for a child: the body waits while the child waits. */
async function waitedFor(
  { run, activity: activityOfBody }: BodyPlace,
  { path, ended }: StartedChild,
): Promise<InvocationRecord | undefined> {
  const activity = inFlightOn(run.ledger).underWay.get(path)?.activity;
  const leave = activity?.attachTo(activityOfBody());
  // A child that began to wait earlier does not report it again by itself.
  activity?.reportWait();
  try {
    return await ended;
  } finally {
    leave?.();
  }
}

/** Lets a child go on although nothing waits for it. */
function detach(place: BodyPlace, { path, ended }: StartedChild): void {
  const { run } = place;
  recordDetaching(place, path);
  run.detached.add(path, ended);
  inFlightOn(run.ledger).underWay.get(path)?.activity.moveTo(run.detached.activity);
}

function isDetached({ run }: BodyPlace, path: string): boolean {
  return run.ledger.invocations.byPath.get(path)?.mode === 'dispatch';
}

/** Records that nothing waits for a spawned child any more; once, and only while it matters. */
function recordDetaching(place: BodyPlace, path: string): void {
  const { ledger } = place.run;
  if (
    ledger.failure !== undefined ||
    isDetached(place, path) ||
    hasOutcome(ledger.invocations, path)
  )
    return;
  ledger.append([
    decision('spawn', 'detach', {
      by: place.by,
      invocationId: place.path,
      reasoning: `"${path}" goes on by itself: its caller does not wait for it.`,
      data: { path },
    }),
  ]);
}
