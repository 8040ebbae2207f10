import type { CancelScope } from '../../../base/cancel-scope.ts';
import type { InvocationInput, InvocationMode } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import type { CallOptions } from '../../../session/body-context.ts';
import type { Activity } from '../../frame/activity.ts';
import { type Invokable, isWait } from '../../frame/invocation.ts';
import { invoke } from '../invoke.ts';
import { nothingTaken } from '../state/body-state.ts';
import { outcomeSeq } from '../state/recorded-writes.ts';
import { assertOutsideEffect } from './body-effects.ts';
import type { BodyPlace } from './body-place.ts';
import type { BodyWork } from './body-work.ts';
import { assertDepth, assertName } from './child-check.ts';

/** Child that a body asks for. */
export interface ChildRequest {
  readonly mode: InvocationMode;
  readonly runnable: Invokable;
  readonly input: InvocationInput | undefined;
  readonly options: CallOptions;
  readonly scope: CancelScope;
}

/** Child that was started or continued. */
export interface StartedChild {
  readonly path: string;
  /** Resolves with the last record of its slot; with `undefined` when the run was released. */
  readonly ended: Promise<InvocationRecord | undefined>;
  /** `seq` of the outcome, when the ledger had it before. */
  readonly givenFrom: number | undefined;
}

/** Starts or continues a child; the body's writes land with its start. */
export function startChild(work: BodyWork, request: ChildRequest): StartedChild {
  const { body, landed } = work;
  const { mode, runnable, input, options } = request;
  body.assertOpen(mode);
  const { place } = body;
  assertOutsideEffect(place, mode);
  const { run } = place;
  const key = work.keys.claimForChild(runnable, input, options.key);
  const path = `${place.childRoot}/${key}`;
  work.asked.add(path);
  const recorded = run.ledger.invocations.byPath.get(path);
  if (recorded === undefined) {
    // A wait is no level of calls.
    if (!isWait(runnable)) assertDepth(place, runnable);
    if (mode !== 'call' && !isWait(runnable)) assertName(place, runnable);
  }
  place.onChild?.();
  const { writes } = body;
  writes.settleBase();
  if (recorded === undefined) writes.assertInOrder();
  else landed.landedBefore(recorded.start.seq, key);
  const activity = activityFor(mode, place);
  if (mode !== 'call' && run.session.shared.names.length > 0) landed.addUnconfirmed(key);
  const givenFrom = outcomeSeq(run.ledger, path);
  const ended = beginChild(work, request, { path, key, activity, recorded });
  return { path, givenFrom, ended };
}

interface ChildPlace {
  readonly path: string;
  readonly key: string;
  readonly activity: Activity;
  readonly recorded: InvocationRecord | undefined;
}

/** Invokes a child once the drift gate lets it begin. */
function beginChild(
  { body: { place, writes }, drift }: BodyWork,
  { mode, runnable, input, options, scope }: ChildRequest,
  { path, key, activity, recorded }: ChildPlace,
): Promise<InvocationRecord | undefined> {
  const mayBegin =
    recorded === undefined
      ? drift.delayChild(path, runnable, scope)
      : drift.askedChild(recorded, { runnable, input });
  // Writes of other branches while the child waits are no part of its start.
  const made = mayBegin === undefined ? undefined : writes.queued();
  const timeout =
    options.timeoutMs ??
    (runnable.kind === 'agent' ? place.run.app.defaults.agentCallTimeoutMs : undefined);
  const begin = (): Promise<InvocationRecord | undefined> => {
    const { drafts, extras } =
      recorded === undefined ? writes.take(key, { of: made }) : nothingTaken;
    return invoke(place.run, {
      path,
      runnable,
      mode,
      input,
      timeoutMs: timeout,
      scope,
      activity,
      before: drafts,
      extras,
    });
  };
  return mayBegin === undefined
    ? begin()
    : mayBegin.then((begins) => (begins ? begin() : undefined));
}

/**
 * Returns the node that waits while a child waits. For a spawned child it is its owner, for a
 * dispatched one the run's detached node.
 */
function activityFor(mode: InvocationMode, { run, activity, ownerActivity }: BodyPlace): Activity {
  if (mode === 'dispatch') return run.detached.activity;
  return mode === 'spawn' ? (ownerActivity ?? activity()) : activity();
}
