import { AbortReason } from '../../base/cancel-scope.ts';
import type { JsonValue } from '../../base/json.ts';
import type { EventDraft, EventOf } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome, lastRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { InboxEntry } from '../../ledger/port.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Session } from '../../session/session.ts';
import { NoOpenRunError, RunStoppedError } from '../frame/errors.ts';
import { runGrants } from '../frame/grants.ts';
import { occupancyOf } from '../frame/occupancy.ts';
import { type AppServices, type OnStep, type Parked, RunContext } from '../frame/run-context.ts';
import type { ResolvedRunLimits } from '../frame/run-options.ts';
import { Surroundings } from '../frame/tracing.ts';
import {
  assertMayBegin,
  assertSameRunnable,
  messageDrafts,
  rootInput,
} from '../invoke/input-contract.ts';
import { invoke } from '../invoke/invoke.ts';
import { runBody } from './bodies.ts';
import { continueDetached, openDetached } from './detached-children.ts';
import { ExpiryWatch, firstExpiry } from './expiry.ts';
import { InboxReader } from './inbox.ts';
import { keepLease } from './lease.ts';
import { beginPostProcess, withLifecycle } from './lifecycle.ts';
import { answersWith } from './message-answer.ts';
import { closeGateAfter, watchForRest } from './rest.ts';
import { openRoot, rootToContinue } from './root-run.ts';
import type { RunResult, RunSink } from './run.ts';
import { limitDrafts, limitsOfRun } from './run-limits.ts';
import { endedResult, yieldedResult } from './run-result.ts';
import { abortBelow, allWound, heedCancel, listen, reasonOf } from './steering.ts';
import { isSaid, isStillWaiting } from './still-waiting.ts';
import { assertAnswersUsable, noteUnusable } from './unused-answers.ts';
import { tooManyWaiting } from './waiting-limit.ts';

/** What one run is to do. */
export interface RunRequest {
  /** The runnable; missing when an interrupted run is to be continued, whatever it is. */
  readonly runnable: Runnable | undefined;
  readonly input: string | undefined;
  /** What its root is started with besides. */
  readonly data?: JsonValue | undefined;
  readonly runId: string;
  /**
   * Whether the caller chose the name, so that asking again for the same run asks for nothing new.
   */
  readonly isNamed: boolean;
  /** Milliseconds of active time. */
  readonly timeout: number | undefined;
  readonly limits: ResolvedRunLimits;
  readonly signal: AbortSignal | undefined;
  /** How far it is to go. @default 'idle' */
  readonly until?: 'idle' | 'round' | undefined;
  /** Milliseconds after which it begins nothing more. */
  readonly slice?: number | undefined;
  /**
   * It is asked for by somebody who looks after many sessions: a run that was paused stays so, and
   * one that waits for what has not come is left as it is.
   */
  readonly isWorker?: boolean | undefined;
  /** Nobody asked for it just now: the runtime found it. */
  readonly isFound?: boolean | undefined;
  /** Key under which its input was posted before, to whoever held the session then. */
  readonly posted?: string | undefined;
  readonly onStep: OnStep | undefined;
  /** What the run may do besides what the app and the session may. */
  readonly permissions?: readonly string[] | undefined;
}

interface Beginning {
  readonly open: InvocationRecord | undefined;
  readonly runnable: Runnable;
  readonly request: RunRequest;
  readonly surroundings?: Surroundings | undefined;
}

/** Whether something of a run is under way or may still be. */
function isOpen(ledger: Ledger, runId: string): boolean {
  const { invocations } = ledger;
  return (
    (invocations.byPath.has(runId) && !hasOutcome(invocations, runId)) ||
    openDetached(ledger).length > 0
  );
}

/**
 * What is to run, and the open run that it continues. A session that nothing can be run on is given
 * back.
 */
async function begin(app: AppServices, session: Session, request: RunRequest): Promise<Beginning> {
  try {
    const open = rootToContinue(session, request);
    if (open === undefined && request.runnable === undefined)
      return await beginPosted(app, session, request);
    // Only what a run dispatched goes on: that is continued with the run that comes next.
    const isOver =
      open !== undefined &&
      request.runnable === undefined &&
      !request.isNamed &&
      hasOutcome(session.ledger.invocations, open.path);
    const posted = isOver
      ? postedBeginning(app, session, request, await session.ledger.ports.store.inbox(session.id))
      : undefined;
    if (posted !== undefined) return posted;
    return findBeginning(app, session, request);
  } catch (error) {
    const root = openRoot(session);
    if (root !== undefined)
      await noteUnusable(session.ledger, root.path, error).catch(() => undefined);
    if (occupancyOf(session.ledger).runs === 0)
      await session.ledger.release().catch(() => undefined);
    throw error;
  }
}

function findBeginning(app: AppServices, session: Session, request: RunRequest): Beginning {
  const open = rootToContinue(session, request);
  const runnable = request.runnable ?? app.registry.get(open?.name ?? '');
  if (open !== undefined) assertSameRunnable(session, open, runnable);
  if (open !== undefined) assertMayBegin(open, request);
  return { open, runnable, request };
}

/**
 * A session without an open run may have an inbox: what came too late is written down, and a run
 * that somebody asked for who could not start it himself is started.
 * @throws NoOpenRunError when there is none
 */
async function beginPosted(
  app: AppServices,
  session: Session,
  request: RunRequest,
): Promise<Beginning> {
  const { ledger } = session;
  const nothing = (): void => undefined;
  const inbox = new InboxReader({
    ledger,
    runId: request.runId,
    isOpen: () => false,
    cancel: nothing,
    pause: nothing,
    interrupt: nothing,
  });
  if (ledger.inboxSeq > 0) await inbox.drain();
  const posted = postedBeginning(app, session, request, inbox.left.values());
  if (posted !== undefined) return posted;
  ledger.append([], { wakeAt: null });
  await ledger.durable();
  throw new NoOpenRunError({ session: session.id });
}

/** The first run that somebody asked for who could not start it himself. */
function postedBeginning(
  app: AppServices,
  { ledger }: Session,
  request: RunRequest,
  entries: Iterable<InboxEntry>,
): Beginning | undefined {
  for (const { type, data: posted } of entries) {
    const { runId, runnable: name, text, data } = posted;
    const input = typeof text === 'string' ? text : undefined;
    if (
      type !== 'user' ||
      typeof runId !== 'string' ||
      typeof name !== 'string' ||
      (input === undefined && data === undefined)
    )
      continue;
    const asked = { ...request, runId, isNamed: true, input, data, posted: runId };
    // Somebody may have run it by its name meanwhile.
    return {
      open: ledger.invocations.byPath.get(runId),
      runnable: app.registry.get(name),
      request: asked,
    };
  }
  return undefined;
}

/** How far a run has come. */
export interface RunEnd {
  readonly result: RunResult;
  /** There is more to be done: it was to do no more than a round or a slice of time. */
  readonly more: boolean;
}

/**
 * Carries a run out on a session that this process owns: starts it or continues the one that is
 * open. A run that waits for somebody outside gives the session back; what was posted meanwhile is
 * looked at in the same transaction, and lets it go on.
 * @param onBegin called when the session is this process's, before anything is done
 */
export async function executeRun(
  app: AppServices,
  session: Session,
  request: RunRequest,
  sink: RunSink,
  onBegin: () => void,
): Promise<RunEnd> {
  const { ledger } = session;
  const { inboxSeq: postedBefore } = await ledger.own();
  const beginning = await begin(app, session, request);
  onBegin();
  const occupancy = occupancyOf(ledger);
  occupancy.runs++;
  const stopKeeping = keepLease(ledger, app.clock);
  const surroundings = Surroundings.of(app.middleware, session, beginning);
  const execution = new Execution(app, session, sink, { ...beginning, surroundings }, postedBefore);
  const giveBack = async (): Promise<void> => {
    await execution.settled();
    surroundings?.close();
    stopKeeping();
    occupancy.runs--;
    // A run that was started meanwhile still needs the ledger. All is durable: a lease that cannot
    // be given back ends by itself.
    if (occupancy.runs === 0) await execution.release().catch(() => undefined);
  };
  try {
    const end = await (surroundings === undefined
      ? execution.run()
      : surroundings.run(() => execution.run()));
    if (execution.hasDetached) sink.background(giveBack());
    else await giveBack();
    return end;
  } catch (error) {
    await execution.abandon();
    await noteUnusable(ledger, execution.runId, error).catch(() => undefined);
    await giveBack();
    throw ledger.failure?.error ?? error;
  }
}

/** One run on one session: turns of work, each until the run ends or everything in it waits. */
class Execution {
  readonly #app: AppServices;
  readonly #session: Session;
  readonly #request: RunRequest;
  readonly #sink: RunSink;
  readonly #runId: string;
  readonly #runnable: Runnable;
  #open: InvocationRecord | undefined;
  #run: RunContext | undefined;
  #inbox: InboxReader | undefined;
  #expiry: ExpiryWatch | undefined;
  #forget: () => void = () => undefined;
  #stopAsked = false;
  #isInputGiven = false;
  /** Whether only what was dispatched goes on. */
  #isBehind = false;
  #hasNothingNew = false;
  readonly #postedBefore: number;
  readonly #surroundings: Surroundings | undefined;
  /** The last event when this turn began. */
  #turnSeq = 0;

  /** @param postedBefore the last inbox item that was there before the run was taken up */
  constructor(
    app: AppServices,
    session: Session,
    sink: RunSink,
    { open, runnable, request, surroundings }: Beginning,
    postedBefore: number,
  ) {
    this.#postedBefore = postedBefore;
    this.#surroundings = surroundings;
    this.#app = app;
    this.#session = session;
    this.#request = request;
    this.#sink = sink;
    this.#open = open;
    this.#runnable = runnable;
    this.#runId = open?.path ?? request.runId;
  }

  async run(): Promise<RunEnd> {
    for (;;) {
      const run = this.#startTurn();
      const record = await this.#work(run);
      if (record !== undefined)
        return { result: endedResult(this.#session, this.#runId, record), more: false };
      if (this.#hasNothingNew)
        return { result: yieldedResult(this.#session, this.#runId), more: false };
      const { parked } = run;
      if (parked === undefined)
        throw (
          run.givenUpFor?.error ??
          new RunStoppedError({ session: this.#session.id, runId: this.#runId })
        );
      if (parked.closedFor === 'round' || parked.closedFor === 'slice')
        return { result: yieldedResult(this.#session, this.#runId), more: true };
      if (await this.#park(run, parked))
        return { result: yieldedResult(this.#session, this.#runId), more: false };
      await this.#endTurn();
      this.#open = this.#session.ledger.invocations.byPath.get(this.#runId);
    }
  }

  #startTurn(): RunContext {
    const { ledger } = this.#session;
    const run = new RunContext({
      app: this.#app,
      session: this.#session,
      runId: this.#runId,
      limits: limitsOfRun(ledger.events, this.#runId, this.#request.limits),
      onStep: this.#request.onStep,
      runBody: withLifecycle(runBody, this.#app.lifecycle),
      surroundings: this.#surroundings,
      emit: (event) => this.#sink.push(event),
      isHeard: () => this.#sink.isHeard,
    });
    this.#run = run;
    this.#turnSeq = ledger.lastSeq;
    const inbox = new InboxReader({
      ledger,
      runId: this.#runId,
      isOpen: () => isOpen(ledger, this.#runId),
      heedsPausesAfter: this.#request.isWorker === true ? 0 : this.#postedBefore,
      isParked: () => run.parked !== undefined || run.detachedRests,
      cancel: (reason) => {
        run.abort(reason);
        abortBelow(ledger, this.#runId, reason);
      },
      pause: () => run.gate.close('pause'),
      interrupt: () => run.interrupt(),
      late: () => this.#isBehind && this.#app.takeUp(ledger.session),
    });
    this.#inbox = inbox;
    this.#expiry = new ExpiryWatch(
      ledger,
      this.#app.clock,
      () => inbox.poke(),
      () => run.parked !== undefined || run.detachedRests,
    );
    this.#forget = this.#listen(run, inbox);
    watchForRest(run);
    closeGateAfter(run, this.#request);
    const root = lastRecord(ledger.invocations, this.#runId);
    if (this.#request.isWorker === true && root?.status === 'yielded' && root.yielded === 'pause')
      run.gate.close('pause');
    return run;
  }

  async #endTurn(): Promise<void> {
    this.#forget();
    this.#forget = () => undefined;
    await this.#inbox?.stop();
    await this.#expiry?.stop();
  }

  async #work(run: RunContext): Promise<InvocationRecord | undefined> {
    const { ledger } = this.#session;
    const inbox = this.#inbox as InboxReader;
    const hasPosted = await this.#session.posted();
    await this.#session.observeShared({ declare: true });
    // What others have posted comes before what this run adds.
    if (hasPosted || ledger.inboxSeq > 0) await inbox.drain();
    await this.#expiry?.start();
    inbox.start();
    heedCancel(run, this.#open);
    if (this.#stopAsked) run.abort(new AbortReason('stopped', 'The run was given back.'));
    this.#hasNothingNew =
      this.#request.isWorker === true && !run.scope.aborted && isStillWaiting(ledger, this.#runId);
    if (this.#hasNothingNew) return undefined;
    if (this.#open !== undefined && !run.scope.aborted) await assertAnswersUsable(run);
    continueDetached(
      run,
      this.#request.runnable !== undefined || this.#request.posted !== undefined,
    );
    const { before, consumes } = await this.#takeInput();
    const { timeout } = this.#request;
    const invoking = invoke(run, {
      path: this.#runId,
      runnable: this.#runnable,
      mode: 'root',
      input: rootInput(ledger, this.#open, this.#request),
      timeout,
      scope: run.scope,
      activity: run.activity,
      before,
      extras: { wakeAt: this.#app.clock.now(), ...(consumes.length === 0 ? {} : { consumes }) },
    });
    this.#tellAccepted();
    const record = await invoking;
    await ledger.durable();
    if (record !== undefined) beginPostProcess(run);
    run.detachedActivity.rest();
    return record;
  }

  /** What was asked for is in the ledger; whoever wants to know waits until it is durable. */
  #tellAccepted(): void {
    const { id: session, ledger } = this.#session;
    const runId = this.#runId;
    if (!ledger.invocations.byPath.has(runId)) return;
    const { lastSeq } = ledger;
    this.#sink.accept(async () => {
      if (ledger.durableSeq < lastSeq) await ledger.durable();
      return { session, runId };
    });
  }

  /**
   * The input of this run, and what it takes out of the inbox; what continues an open run is told
   * to it at once.
   */
  async #takeInput(): Promise<{
    readonly before: readonly EventDraft[];
    readonly consumes: readonly number[];
  }> {
    const nothing = { before: [], consumes: [] };
    if (this.#isInputGiven) return nothing;
    this.#isInputGiven = true;
    const { ledger } = this.#session;
    const { posted } = this.#request;
    const granted = [
      ...runGrants(ledger.events, this.#runId, this.#request.permissions),
      ...limitDrafts(ledger.events, this.#runId, this.#request.limits),
    ];
    if (this.#open !== undefined && granted.length > 0) ledger.append(granted);
    const input =
      posted !== undefined && this.#tookPosted(posted)
        ? []
        : messageDrafts(ledger, this.#runId, this.#request);
    const left = posted === undefined ? undefined : this.#inbox?.left.get(posted);
    const consumes = left === undefined ? [] : [left.position];
    // With the start in one append: a crash between the two would lose it.
    if (this.#open === undefined) return { before: [...granted, ...input], consumes };
    if (left !== undefined) ledger.append([], { consumes });
    if (
      input.length > 0 &&
      (await answersWith(this.#app, ledger, this.#runId, this.#request.input))
    ) {
      await this.#inbox?.drain();
      return nothing;
    }
    // What has ended is not told anything more.
    const isOver = hasOutcome(ledger.invocations, this.#open.path);
    if (input.length > 0 && !isOver) ledger.append(input);
    if (!isOver || openDetached(ledger).length > 0)
      ledger.append([], { wakeAt: this.#app.clock.now() });
    return nothing;
  }

  /** Whether what was posted as this run's input is in the ledger. */
  #tookPosted(key: string): boolean {
    return this.#session.ledger.events.some(
      (event) => event.type === 'user' && event.clientKey === key,
    );
  }

  /**
   * Says in the ledger that the run waits, and gives the session back. Returns whether it is:
   * something may have been posted meanwhile.
   */
  async #park(run: RunContext, { leaves, closedFor }: Parked): Promise<boolean> {
    const { ledger } = this.#session;
    const refusal = await tooManyWaiting(ledger, this.#runId, this.#app.waitingRunsPerUser);
    if (refusal.length > 0) {
      // The next turn finds that the run is cancelled.
      ledger.append(refusal);
      return false;
    }
    const reasons = new Map<string, EventOf<'invocation_yield'>['reason']>();
    for (const { path, reason } of leaves) reasons.set(path, reason === 'gate' ? 'pause' : reason);
    const root = lastRecord(ledger.invocations, this.#runId)?.path ?? this.#runId;
    if (!reasons.has(root))
      reasons.set(root, closedFor === 'pause' ? 'pause' : ([...reasons.values()][0] ?? 'input'));
    const yields = [...reasons].map(
      ([invocationId, reason]): EventDraft => ({
        type: 'invocation_yield',
        by: 'runtime',
        invocationId,
        reason,
      }),
    );
    // What waits as before has said so.
    const drafts =
      ledger.lastSeq === this.#turnSeq && yields.every((draft) => isSaid(ledger, draft))
        ? []
        : yields;
    // What was dispatched is to be continued by others when this process stops.
    const isBusy = (run.hasDetached && !run.detachedRests) || occupancyOf(ledger).runs > 1;
    const wakeAt = isBusy ? this.#app.clock.now() : firstExpiry(ledger);
    ledger.append(drafts, { wakeAt });
    await ledger.durable();
    if (run.hasDetached) {
      await this.#watchBehind(run);
      return true;
    }
    await this.#endTurn();
    // What another run dispatched goes on, and with it the ownership.
    if (occupancyOf(ledger).runs > 1) return true;
    const { released } = await ledger.release({ inboxSeq: this.#inbox?.seen });
    return released;
  }

  /**
   * What was dispatched goes on, and with it the ownership: whatever comes for the rest of the run
   * is taken up here.
   */
  async #watchBehind(run: RunContext): Promise<void> {
    const { ledger } = this.#session;
    this.#isBehind = true;
    this.#forget();
    await this.#expiry?.stop();
    const at = firstExpiry(ledger);
    const { clock, takeUp } = this.#app;
    const cancelTimer =
      at === null ? undefined : clock.setTimer(at - clock.now(), () => takeUp(ledger.session));
    const forgetFailure = ledger.onFailure((error) => run.abort(reasonOf(error)));
    this.#forget = () => {
      cancelTimer?.();
      forgetFailure();
    };
  }

  get runId(): string {
    return this.#runId;
  }

  get hasDetached(): boolean {
    return this.#run?.hasDetached ?? false;
  }

  async settled(): Promise<void> {
    await this.#run?.settled();
    await this.#endTurn();
  }

  /** Stops what is under way: it must not write when the ledger has been given back. */
  async abandon(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.abort(new AbortReason('stopped', 'The run could not be carried on.'));
    await allWound(run);
  }

  /**
   * Gives the session back. What was posted last is taken in before, as far as it still concerns
   * this run.
   */
  async release(): Promise<void> {
    const { ledger } = this.#session;
    if (ledger.claim === undefined) return;
    if (ledger.failure === undefined && this.#rests())
      ledger.append([], { wakeAt: firstExpiry(ledger) });
    if (ledger.failure === undefined && hasOutcome(ledger.invocations, this.#runId)) {
      for (let looks = 0; looks < mostLooks; looks++) {
        const { released } = await ledger.release({
          inboxSeq: Math.max(this.#inbox?.seen ?? 0, 0),
        });
        if (released) return;
        await this.#inbox?.drain();
      }
    }
    await ledger.release();
  }

  /** Whether all that there was besides the root has ended or waits, and the root too. */
  #rests(): boolean {
    const run = this.#run;
    const { ledger } = this.#session;
    if (run === undefined || !run.hadDetached) return false;
    if (openDetached(ledger).length > 0 && !run.detachedRests) return false;
    const isHeld = run.parked?.closedFor === 'round' || run.parked?.closedFor === 'slice';
    return hasOutcome(ledger.invocations, this.#runId) || (run.parked !== undefined && !isHeld);
  }

  #listen(run: RunContext, inbox: InboxReader): () => void {
    const forget = listen(run, this.#sink, this.#request.signal, {
      poke: () => inbox.poke(),
      stop: () => {
        this.#stopAsked = true;
        run.abort(new AbortReason('stopped', 'The run was given back.'));
      },
    });
    return forget;
  }
}

/**
 * How often the inbox is looked at before a session is given back all the same: what comes later
 * wakes the next owner.
 */
const mostLooks = 5;
