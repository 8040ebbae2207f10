import { AbortReason, CancelScope, isRelease } from '../../base/cancel-scope.ts';
import { defined } from '../../base/defined.ts';
import { toErrorRecord } from '../../base/error.ts';
import { leavesOpen } from '../../ledger/errors.ts';
import type { EventDraft } from '../../ledger/event.ts';
import { type InvocationRecord, slotMode } from '../../ledger/folds/invocation-fold.ts';
import { laneMember } from '../../ledger/folds/lanes.ts';
import { belongsTo } from '../../ledger/path.ts';
import type { Middleware } from '../../runnables/hooks.ts';
import { Activity } from '../frame/activity.ts';
import { type InFlightInvocation, inFlightOn } from '../frame/in-flight.ts';
import { type BodyEnd, type Invokable, isWait, type Slot, type Wait } from '../frame/invocation.ts';
import type { AnyRunnable } from '../frame/registry.ts';
import type { BodyFrame, RunContext } from '../frame/run-context.ts';
import { withdrawnWith, withSettled } from './abandoned-requests.ts';
import { armDeadline } from './deadline.ts';
import { assertSame, inputHash } from './recorded-slot.ts';

/**
 * Carries out a slot by the invoke rule. A recorded outcome is returned. A handoff is continued in
 * the same slot. An open invocation is resumed; anything else is started. Nothing else is needed to
 * continue any nesting of runnables.
 * @returns the slot's last record, or `undefined` when the run was released before the end
 * @throws LedgerMismatchError before anything runs, when the ledger recorded something else at this
 * place
 */
export function invoke(run: RunContext, slot: Slot): Promise<InvocationRecord | undefined> {
  const { underWay } = inFlightOn(run.ledger);
  const same = underWay.get(slot.path);
  if (same !== undefined) return join(run, slot, same);
  const activity = new Activity(slot.path, slot.activity);
  const ended = carryOut(run, { ...slot, activity });
  const forget = (): void => {
    underWay.delete(slot.path);
    activity.end();
  };
  underWay.set(slot.path, { ended, scope: slot.scope, activity });
  ended.then(forget, forget);
  return ended;
}

/**
 * Waits for the invocation under way in this slot. An example is a body that runs again and asks
 * for a child that was continued before it.
 */
async function join(
  run: RunContext,
  slot: Slot,
  same: InFlightInvocation,
): Promise<InvocationRecord | undefined> {
  const recorded = run.ledger.invocations.byPath.get(slot.path);
  if (recorded !== undefined) assertSame(recorded, slot);
  const forget =
    slot.scope === same.scope
      ? undefined
      : slot.scope.onAbort((reason) => same.scope.abort(reason));
  const detach = same.activity.attachTo(slot.activity);
  // An invocation that began to wait earlier does not report it again by itself.
  same.activity.reportWait();
  try {
    return await same.ended;
  } finally {
    forget?.();
    detach();
  }
}

async function carryOut(run: RunContext, slot: Slot): Promise<InvocationRecord | undefined> {
  let { path, runnable, input, inputFrom, mode, lane, model } = slot;
  let before = slot.before ?? [];
  let { extras } = slot;
  for (;;) {
    const record = run.ledger.invocations.byPath.get(path);
    if (record?.end !== undefined) {
      if (record.next === undefined) return record;
      path = `${path}>${record.next.name}`;
      runnable = run.app.registry.get(record.next.name);
      input = record.next.input;
      inputFrom = undefined;
      mode = 'transfer';
      lane = undefined;
      model = undefined;
      before = [];
      extras = undefined;
      continue;
    }
    const wasReleased = await runOnce(
      run,
      { ...slot, path, runnable, input, inputFrom, mode, lane, model, before, extras },
      record,
    );
    const turning = run.turn();
    if (turning !== undefined) await turning;
    if (wasReleased) return undefined;
  }
}

/** Waits while the run is paused. An agent that goes on waits itself, at its next round. */
async function waitWhilePaused({ gate }: RunContext, { scope, activity }: Slot): Promise<void> {
  if (!gate.isClosed || scope.aborted) return;
  activity.judgeBy(() => 'waiting', 'pause');
  activity.reportWait();
  await new Promise<void>((resolve) => scope.onAbort(() => resolve()));
}

/**
 * True when shared state is read before an invocation starts. The start of a run has just read it,
 * and an agent reads it in each round. Code started beside the body, or with writes of its own,
 * gets its place in the ledger at once.
 */
function looksAtShared(
  run: RunContext,
  { mode, runnable, before = [] }: Slot,
  recorded: InvocationRecord | undefined,
): boolean {
  const isNever = runnable.kind === 'agent' || isWait(runnable);
  if (recorded !== undefined || run.session.shared.names.length === 0 || isNever) return false;
  return mode !== 'root' && mode !== 'spawn' && mode !== 'dispatch' && before.length === 0;
}

/** Runs a body from its start or from where it stopped. Returns true when the run was released. */
async function runOnce(
  run: RunContext,
  slot: Slot,
  recorded: InvocationRecord | undefined,
): Promise<boolean> {
  const { ledger } = run;
  const resumed = recorded !== undefined && slot.begun !== true;
  const waits = run.gate.isClosed || looksAtShared(run, slot, recorded);
  if (run.gate.isClosed && slot.begun !== true) await waitWhilePaused(run, slot);
  if (looksAtShared(run, slot, recorded)) await run.observeShared(slot.path);
  // A run that is stopped at once is begun all the same: its next process then has its input.
  if (waits && isReleased(run, slot.scope)) return true;
  if (recorded !== undefined) assertSame(recorded, slot);
  run.agents.enter(slot.path, middlewareOf(slot.runnable as AnyRunnable | Wait));
  const deadline =
    recorded === undefined ? start(run, slot) : resumed ? resume(run, recorded) : recorded.deadline;
  // Shared writes that land with the start may be refused or made again. The body must begin with
  // the final values.
  if (recorded === undefined && slot.extras?.shared !== undefined) await ledger.durable();
  const record = ledger.invocations.byPath.get(slot.path) as InvocationRecord;
  const work = (): Promise<boolean> => runBody(run, slot, { record, resumed, deadline });
  const wasReleased = await (run.tracing?.surrounds(slot.path) !== true || isWait(slot.runnable)
    ? work()
    : run.tracing.invocation({ ...slot, runnable: slot.runnable, resumed }, work));
  if (!wasReleased && run.onStep !== undefined) await reportStep(run, record, slot.runnable);
  return wasReleased;
}

function middlewareOf(runnable: AnyRunnable | Wait): readonly Middleware[] {
  return runnable.kind === 'agent' ? runnable.middleware : [];
}

interface Begun {
  readonly record: InvocationRecord;
  readonly resumed: boolean;
  readonly deadline: number | undefined;
}

/** Runs a body and records its end. Returns true when the run was released. */
async function runBody(
  run: RunContext,
  slot: Slot,
  { record, resumed, deadline }: Begun,
): Promise<boolean> {
  const scope = new CancelScope(slot.scope);
  let timedOut: AbortReason | undefined;
  const { activity } = slot;
  const cancelTimer = armDeadline(run, deadline, activity, () => {
    timedOut = new AbortReason('timeout', `"${slot.path}" did not finish in the time it had.`);
    scope.abort(timedOut);
  });
  try {
    const frame: BodyFrame = { run, record, scope, activity, resumed };
    if (frame.resumed && scope.aborted && !isReleased(run, scope))
      await cancelChildren(frame, record);
    const end = await run.runBody(slot.runnable as AnyRunnable | Wait, frame);
    if (isReleased(run, scope) || end === undefined) return true;
    appendEnd(run, slot.path, timedOut === undefined ? end : timeoutEnd(timedOut, end));
    // A refused shared write changes how the body ended: nothing goes on from the end before that
    // is known.
    if (end.extras?.shared !== undefined) await run.ledger.durable();
  } catch (thrown) {
    if (isReleased(run, scope)) return true;
    // The ledger is right and the code is not: the run can go on with the right code, so no failure
    // is recorded.
    if (leavesOpen(thrown)) throw thrown;
    // An error that a body does not handle ends it: the ledger records it, and the caller decides.
    appendEnd(run, slot.path, { status: 'error', error: toErrorRecord(thrown) });
  } finally {
    cancelTimer();
    scope.close();
  }
  return false;
}

function timeoutEnd({ message }: AbortReason, { followUp }: BodyEnd): BodyEnd {
  const error = { name: 'TimeoutError', code: 'timeout', message };
  return { status: 'error', error, followUp };
}

async function reportStep(
  run: RunContext,
  record: InvocationRecord,
  runnable: Invokable,
): Promise<void> {
  if (runnable.kind === 'agent' || isWait(runnable)) return;
  await run.ledger.durable();
  await run.onStep?.(record.events, run.session, runnable);
}

/** True when nothing more may be recorded: the run is released, or the ledger has failed. */
export function isReleased(run: RunContext, scope: CancelScope): boolean {
  return isRelease(scope.reason) || run.ledger.failure !== undefined;
}

function start(run: RunContext, slot: Slot): number | undefined {
  const { runnable, input, inputFrom } = slot;
  const deadline = slot.timeoutMs === undefined ? undefined : run.app.clock.now() + slot.timeoutMs;
  const hash = inputHash(input);
  const appended = run.ledger.append(
    [
      ...(slot.before ?? []),
      {
        type: 'invocation_start',
        by: 'runtime',
        invocationId: slot.path,
        kind: runnable.kind,
        name: runnable.name,
        mode: slot.mode,
        ...(isWait(runnable) || runnable.version === undefined
          ? {}
          : { version: runnable.version }),
        ...(input === undefined || hash === undefined ? {} : { input, inputHash: hash }),
        ...(input === undefined || inputFrom === undefined ? {} : { inputFrom }),
        ...(slot.branch === true ? { branch: true as const } : {}),
        ...defined({ deadline }),
        ...traceOf(run, slot.path),
        ...laneMember(slot.lane),
        ...defined({ model: slot.model }),
      },
    ],
    slot.extras,
  );
  const started = appended.at(-1);
  return started?.type === 'invocation_start' ? started.deadline : deadline;
}

/** Returns the trace to record with the run's root, if there is one. */
function traceOf({ runId, tracing }: RunContext, path: string): { readonly trace?: string } {
  const trace = path === runId ? tracing?.trace : undefined;
  return defined({ trace });
}

/**
 * Resumes an invocation and returns its deadline. The deadline is moved by the time in which no
 * process worked on the invocation.
 */
function resume(run: RunContext, record: InvocationRecord): number | undefined {
  const { path } = record;
  const deadline =
    record.deadline === undefined ? undefined : record.deadline + run.resumption.idleTime(path);
  const moved = defined({ deadline });
  const draft: EventDraft = {
    type: 'invocation_resume',
    by: 'runtime',
    invocationId: path,
    ...moved,
    ...traceOf(run, path),
  };
  if (!run.resumption.isResumedAlready(path) || deadline !== undefined)
    sayBeforeFirstWork(run, path, draft);
  return deadline;
}

/**
 * Records the resume mark of an invocation right before the first event that follows from it. So a
 * ledger does not grow with each failed try to continue a waiting or blocked run.
 */
function sayBeforeFirstWork(run: RunContext, path: string, draft: EventDraft): void {
  const isSaid = run.resumption.isResumedAlready(path);
  const forget = run.ledger.announce(draft, ({ type, invocationId }) => {
    if (!belongsTo(invocationId, path) || type === 'invocation_resume') return false;
    return !(isSaid && type === 'invocation_end' && invocationId === path);
  });
  run.onEnd(forget);
}

function appendEnd(run: RunContext, path: string, end: BodyEnd): void {
  const { status, output, error, stopReason, next } = end;
  const isCancelled = status === 'cancelled' && end.isLeft !== true;
  const { drafts, settles } = withdrawnWith(run.ledger, path, isCancelled);
  run.ledger.append(
    [
      ...(end.before ?? []),
      ...drafts,
      ...(end.followUp === undefined ? [] : [end.followUp.start]),
      {
        type: 'invocation_end',
        by: 'runtime',
        invocationId: path,
        status,
        ...defined({ output, error, stopReason, next }),
      },
      ...run.endDrafts(path, end),
    ],
    withSettled(run.endExtras(path, end), settles),
  );
}

/**
 * Ends the open children of a body that is continued only to be cancelled. Such a body does not ask
 * for them, and they must end before it.
 */
async function cancelChildren(frame: BodyFrame, { children }: InvocationRecord): Promise<void> {
  const { run, scope, activity } = frame;
  const { registry } = run.app;
  const { invocations } = run.ledger;
  const open = children
    .flatMap((path) => invocations.byPath.get(path) ?? [])
    .filter(({ end, path }) => end === undefined && slotMode(invocations, path) !== 'dispatch');
  await Promise.all(
    open.map(async (child) => {
      const { path, name, kind, mode, input } = child;
      const runnable = registry.has(name) ? registry.get(name) : undefined;
      if (runnable?.kind === kind) {
        await invoke(run, { path, runnable, mode, input, scope, activity });
        return;
      }
      // A runnable that only the body made cannot be found by name.
      await cancelChildren(frame, child);
      if (isReleased(run, scope)) return;
      appendEnd(run, path, cancelledEnd(scope));
    }),
  );
}

/** Ends waits that an earlier execution of a body began and this one has not asked for. */
export function endLeftWaits(run: RunContext, paths: readonly string[], message: string): void {
  if (paths.length === 0) return;
  const scope = new CancelScope();
  scope.abort(new AbortReason('left', message));
  for (const path of paths) appendEnd(run, path, cancelledEnd(scope));
}

/** Returns the end of a body whose scope was aborted. */
export function cancelledEnd(scope: CancelScope): BodyEnd {
  return {
    status: 'cancelled',
    error: {
      name: 'CancelledError',
      code: 'cancelled',
      message: scope.reason?.message ?? 'It was cancelled.',
    },
    isLeft: scope.reason?.code === 'left',
  };
}
