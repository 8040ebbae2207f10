import { AbortReason, CancelScope } from '../base/cancel-scope.ts';
import { isAdjutantError } from '../base/error.ts';
import { SessionBusyError } from '../ledger/errors.ts';
import type { EventDraft } from '../ledger/event.ts';
import type { InvocationRecord } from '../ledger/invocation-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { runReport } from '../ledger/run-report.ts';
import type { Runnable } from '../ledger/runnable.ts';
import type { Session } from '../ledger/session.ts';
import type { ConsumptionLimits } from '../supervision/limits.ts';
import { runBody } from './bodies.ts';
import { NoOpenRunError, RunStoppedError } from './errors.ts';
import { invoke } from './invoke.ts';
import { keepLease } from './lease.ts';
import { occupancyOf } from './occupancy.ts';
import type { RunResult, RunSink } from './run.ts';
import { type AppServices, isBelow, type OnStep, RunContext } from './run-context.ts';
import { hasOutcome } from './sequence-body.ts';

/** What one run is to do. */
export interface RunRequest {
  /** The runnable; missing when an interrupted run is to be continued, whatever it is. */
  readonly runnable: Runnable | undefined;
  readonly input: string | undefined;
  readonly runId: string;
  /** Whether the caller chose the name, so that asking again for the same run asks for nothing new. */
  readonly isNamed: boolean;
  /** Milliseconds of active time. */
  readonly timeout: number | undefined;
  readonly limits: ConsumptionLimits;
  readonly signal: AbortSignal | undefined;
  readonly onStep: OnStep | undefined;
}

/** The root run of a session that has no outcome yet. */
function openRoot(session: Session): InvocationRecord | undefined {
  const { invocations } = session.ledger;
  for (const path of invocations.roots) {
    const record = invocations.byPath.get(path);
    if (record?.mode === 'root' && !hasOutcome(invocations, path)) return record;
  }
  return undefined;
}

/** The root that a request continues: the one it names, else the open one, else one whose detached children are open. */
function rootToContinue(session: Session, { runId, runnable }: RunRequest): InvocationRecord | undefined {
  const { byPath, roots } = session.ledger.invocations;
  const named = byPath.get(runId) ?? openRoot(session);
  if (named !== undefined || runnable !== undefined) return named;
  const detached = openDetached(session.ledger);
  const root = roots.findLast((path) => detached.some((child) => isBelow(child.path, path)));
  return root === undefined ? undefined : byPath.get(root);
}

/** Children that nobody waits for and that have no outcome: dispatched ones, and spawned ones whose caller has ended. */
function openDetached({ invocations }: Ledger): InvocationRecord[] {
  const { byPath } = invocations;
  return [...byPath.values()].filter(
    ({ path, mode, parent }) =>
      (mode === 'dispatch' || (mode === 'spawn' && byPath.get(parent ?? '')?.end !== undefined)) && !hasOutcome(invocations, path),
  );
}

interface Beginning {
  readonly open: InvocationRecord | undefined;
  readonly runnable: Runnable;
}

/** What is to run, and the open run that it continues. A session that nothing can be run on is given back. */
async function begin(app: AppServices, session: Session, request: RunRequest): Promise<Beginning> {
  try {
    return findBeginning(app, session, request);
  } catch (error) {
    if (occupancyOf(session.ledger).runs === 0) await session.ledger.release().catch(() => undefined);
    throw error;
  }
}

function findBeginning(app: AppServices, session: Session, request: RunRequest): Beginning {
  const open = rootToContinue(session, request);
  const runnable = request.runnable ?? (open === undefined ? undefined : app.registry.get(open.name));
  if (runnable === undefined) throw new NoOpenRunError({ session: session.id });
  if (open !== undefined && (open.name !== runnable.name || open.kind !== runnable.kind)) {
    throw new SessionBusyError({
      session: session.id,
      owner: open.path,
      detail: `Session "${session.id}" has an open run of the ${open.kind} "${open.name}". Continue or cancel it before running the ${runnable.kind} "${runnable.name}".`,
    });
  }
  return { open, runnable };
}

/** Carries a run out on a session that this process owns: starts it or continues the one that is open. */
export async function executeRun(app: AppServices, session: Session, request: RunRequest, sink: RunSink): Promise<RunResult> {
  const { ledger } = session;
  await ledger.own();
  const { open, runnable } = await begin(app, session, request);
  const runId = open?.path ?? request.runId;
  const run = new RunContext({
    app,
    session,
    runId,
    limits: request.limits,
    onStep: request.onStep,
    runBody,
    emit: (event) => sink.push(event),
    isHeard: () => sink.isHeard,
  });
  const occupancy = occupancyOf(ledger);
  occupancy.runs++;
  const forget = listen(run, sink, request.signal);
  const stopKeeping = keepLease(ledger, app.clock);
  const giveBack = async (): Promise<void> => {
    await run.settled();
    stopKeeping();
    forget();
    occupancy.runs--;
    // A run that was started meanwhile still needs the ledger. All is durable: a lease that cannot be given back ends by itself.
    if (occupancy.runs === 0) await ledger.release().catch(() => undefined);
  };
  try {
    await session.observeShared();
    heedCancel(run, open);
    continueDetached(run);
    const input = inputDrafts(ledger, runId, request);
    // What has ended is not told anything more.
    if (open !== undefined && input.length > 0 && !hasOutcome(ledger.invocations, open.path)) ledger.append(input);
    const before = open === undefined ? input : [];
    const record = await invoke(run, { path: runId, runnable, mode: 'root', timeout: request.timeout, scope: run.scope, before });
    await ledger.durable();
    if (record === undefined) throw run.givenUpFor?.error ?? new RunStoppedError({ session: session.id, runId });
    const result = resultOf(run, record);
    if (run.hasDetached) sink.background(giveBack());
    else await giveBack();
    return result;
  } catch (error) {
    run.abort(new AbortReason('stopped', 'The run could not be carried on.'));
    await allWound(run);
    await giveBack();
    throw ledger.failure?.error ?? error;
  }
}

/** Waits until nothing of a run that was given up is under way: it must not write when the ledger has been given back. */
async function allWound({ ledger, runId }: RunContext): Promise<void> {
  const { underWay } = occupancyOf(ledger);
  await Promise.allSettled([...underWay].filter(([path]) => isBelow(path, runId)).map(([, { ended }]) => ended));
}

function listen(run: RunContext, sink: RunSink, signal: AbortSignal | undefined): () => void {
  const { ledger } = run;
  const cancel = (reason?: string): void => {
    if (run.scope.aborted || ledger.failure !== undefined) return;
    const message = reason ?? 'The run was cancelled.';
    ledger.append([{ type: 'cancel', by: 'user', invocationId: run.runId, reason: message }]);
    run.abort(new AbortReason('cancelled', message));
  };
  const onSignal = (): void => cancel(messageOf(signal?.reason));
  const forgetters = [
    ledger.onDraft((event) => run.count(event)),
    ledger.onDurable((events) => {
      for (const event of events) sink.push(event);
    }),
    ledger.onFailure((error) => run.abort(reasonOf(error))),
    () => signal?.removeEventListener('abort', onSignal),
  ];
  sink.attach({ cancel, stop: () => run.abort(new AbortReason('stopped', 'The run was given back.')) });
  if (signal?.aborted) onSignal();
  else signal?.addEventListener('abort', onSignal, { once: true });
  return () => {
    for (const forget of forgetters) forget();
  };
}

/** What a person gave as the reason of an abort. */
function messageOf(reason: unknown): string | undefined {
  if (reason instanceof Error) return reason.message;
  return reason === undefined ? undefined : String(reason);
}

/** Why the work stops when its ledger can no longer be written. */
function reasonOf(failure: unknown): AbortReason {
  if (isAdjutantError(failure, 'ledger_conflict')) return new AbortReason('fenced', 'Another process has taken the session over.');
  return new AbortReason('stopped', failure instanceof Error ? failure.message : String(failure));
}

/** A run that was cancelled before its process stopped is not taken up again: it only ends. */
function heedCancel(run: RunContext, open: InvocationRecord | undefined): void {
  if (open === undefined || open.end !== undefined) return;
  // A run that was reopened after it was cancelled goes on.
  const cancel = run.ledger.events.findLast(
    ({ type, invocationId }) => (type === 'cancel' || type === 'invocation_reopen') && invocationId === run.runId,
  );
  if (cancel?.type === 'cancel') run.abort(new AbortReason('cancelled', cancel.reason ?? 'The run was cancelled.'));
}

/** Children that were detached and that the last process left open go on from their recorded names and inputs. */
function continueDetached(run: RunContext): void {
  const { detached } = occupancyOf(run.ledger);
  for (const { path, name, mode, input } of openDetached(run.ledger)) {
    if (detached.has(path)) continue;
    const runnable = run.app.registry.get(name);
    run.detach(path, invoke(run, { path, runnable, mode, input, scope: new CancelScope(run.detachedScope) }));
  }
}

/** The input as an event; none when the same input came before under the same chosen name. */
function inputDrafts(ledger: Ledger, runId: string, { input, isNamed, runId: name }: RunRequest): EventDraft[] {
  if (input === undefined) return [];
  const came = isNamed && ledger.events.some((event) => event.type === 'user' && event.clientKey === name && ledger.resolve(event.text) === input);
  return came ? [] : [{ type: 'user', by: 'user', invocationId: runId, text: input, ...(isNamed ? { clientKey: name } : {}) }];
}

function resultOf(run: RunContext, record: InvocationRecord): RunResult {
  const { session, ledger, runId } = run;
  const report = runReport(ledger.events, runId, ledger.resolve);
  return {
    ...report,
    status: record.status === 'error' || record.status === 'cancelled' ? record.status : 'completed',
    output: ledger.resolve(record.output),
    error: record.error,
    stopReason: record.stopReason,
    runId,
    session,
  };
}
