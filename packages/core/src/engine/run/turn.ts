import { AbortReason, isRelease } from '../../base/cancel-scope.ts';
import { defined } from '../../base/defined.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Session } from '../../session/session.ts';
import type { AppServices } from '../frame/app-services.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import { isPartOfLifecycle } from '../frame/lifecycle.ts';
import { RunContext } from '../frame/run-context.ts';
import type { Standstill } from '../frame/standstill.ts';
import type { AgentMiddleware } from '../frame/tracing/agent-middleware.ts';
import type { RunTracing } from '../frame/tracing/run-tracing.ts';
import { rootInput } from '../invoke/input-contract.ts';
import { invoke } from '../invoke/invoke.ts';
import { runBody } from './bodies.ts';
import { continueDetached } from './detached-children.ts';
import { outcomeAsAnswer } from './inbox/message-answer.ts';
import { InboxReader } from './inbox/reader.ts';
import { assertAnswersUsable } from './inbox/unused-answers.ts';
import { OtherLanes } from './lanes/other-lanes.ts';
import { withLifecycle } from './lifecycle.ts';
import { beginPostProcess } from './post-process.ts';
import { isRunOpen } from './root-run.ts';
import type { RunSink } from './run.ts';
import { noRunInput, type RunInput, takeRunInput } from './run-input.ts';
import { limitsOfRun } from './run-limits.ts';
import type { RunRequest } from './run-request.ts';
import { keepPaused, pauseAfter, releaseWhenWaiting } from './standstill.ts';
import { abortBelow, applyEarlierCancel, listen, reasonOf } from './steering.ts';
import { isStillWaiting, lastSeqIn } from './still-waiting.ts';
import { StreamOrder } from './stream/stream-order.ts';
import { ExpiryWatch, firstExpiry } from './waiting/expiry.ts';
import { expiredWait } from './waiting/message-expiry.ts';
import { RequestTeller } from './waiting/request-teller.ts';

/** A run that this process carries out, as one of its turns sees it. */
export interface RunTask {
  readonly app: AppServices;
  readonly session: Session;
  readonly sink: RunSink;
  readonly request: RunRequest;
  readonly runId: string;
  readonly runnable: Runnable;
  /** The root when it is open already. */
  readonly open: InvocationRecord | undefined;
  readonly agents: AgentMiddleware;
  readonly tracing: RunTracing | undefined;
  /** The last inbox item that was there before this process began with the run. */
  readonly postedBefore: number;
  /** True when an earlier turn has taken the input. */
  readonly isInputTaken: boolean;
  /** True when the run was to be released before this turn. */
  readonly isReleaseAsked: boolean;
  /** Called when the app asks for the release of the run. */
  onReleaseAsked(): void;
}

/**
 * Phase of a run in one turn.
 * - `working`: its invocations go on, or the turn has ended with an outcome.
 * - `released`: it paused after its round or its slice of time, and has work left.
 * - `yielded`: everything in its root waits.
 * - `detached`: its root has yielded, and only detached work goes on here.
 */
export type RunPhase = 'working' | 'detached' | Extract<Standstill, 'released' | 'yielded'>;

/** The end of the work of a turn. */
export type TurnEnd =
  | { readonly kind: 'outcome'; readonly record: InvocationRecord }
  /** The run waits as before, and a worker does not wake it. */
  | { readonly kind: 'unchanged' }
  /** The root gave no outcome: everything in it waits, or the run was stopped. */
  | { readonly kind: 'released' };

/** One turn of a run: it lasts until the run ends or everything in it waits. */
export class Turn {
  readonly run: RunContext;
  readonly inbox: InboxReader;
  /** Sequence number of the last event that may concern its lane when this turn began. */
  readonly seqBefore: number;
  readonly #task: RunTask;
  readonly #expiry: ExpiryWatch;
  readonly #others: OtherLanes;
  readonly #teller: RequestTeller | undefined;
  #isDetached = false;
  #forget: () => void;
  #forgetReleased: () => void = () => undefined;

  constructor(task: RunTask) {
    this.#task = task;
    const { agents, app, request, runId, session, sink } = task;
    const { ledger } = session;
    const stream = new StreamOrder(ledger, (event) => {
      sink.push(event);
      agents.hear(event);
    });
    const run = new RunContext({
      app,
      session,
      runId,
      lane: request.lane,
      limits: limitsOfRun(ledger.events, runId, request.limits),
      onStep: request.onStep,
      runBody: withLifecycle(runBody, app.lifecycle),
      agents,
      tracing: task.tracing,
      emit: (event) => {
        sink.made(event);
        stream.emit(event);
      },
      isHeard: () => sink.isHeard || agents.isListening,
      turn: request.turn,
    });
    this.run = run;
    this.seqBefore = lastSeqIn(ledger, request.lane);
    this.#others = new OtherLanes(ledger, request.lane, app);
    const inbox = this.#openInbox();
    this.inbox = inbox;
    this.#expiry = new ExpiryWatch(
      ledger,
      request.lane,
      app.clock,
      () => inbox.poke(),
      () => this.#isReleasing,
    );
    this.#teller = this.#openTeller();
    this.#forget = this.#listen(stream);
    releaseWhenWaiting(run);
    pauseAfter(run, request);
    keepPaused(run, request);
  }

  get phase(): RunPhase {
    if (this.#isDetached) return 'detached';
    const { wait } = this.run.release;
    if (wait === undefined) return 'working';
    return wait.pausedFor === 'round' || wait.pausedFor === 'slice' ? 'released' : 'yielded';
  }

  /** True when inbox items and expiries are left to the next turn. */
  get #isReleasing(): boolean {
    return this.run.release.wait !== undefined || this.run.detached.isReleased;
  }

  #openInbox(): InboxReader {
    const { run } = this;
    const { app, postedBefore, request, runId, session } = this.#task;
    const { ledger } = session;
    return new InboxReader({
      ledger,
      runId,
      lane: request.lane,
      isOpen: () => isRunOpen(ledger, runId, request.lane),
      ignoresPausesUpTo: request.isWorker === true ? 0 : postedBefore,
      isReleasing: () => this.#isReleasing,
      answerOf: (entry, message) => outcomeAsAnswer({ app, ledger, runId }, entry, message),
      cancel: (reason) => {
        run.abort(reason);
        abortBelow(ledger, runId, reason);
      },
      pause: () => run.gate.close('pause'),
      interrupt: () => run.interrupt(),
      suspend: () => run.gate.close('round'),
      late: () => this.#isDetached && app.resumeRun(ledger.session, request.lane),
      mayBegin: (name) => app.registry.has(name),
      addressed: () => this.#others.look(),
    });
  }

  #openTeller(): RequestTeller | undefined {
    const { app, detached, lane, ledger } = this.run;
    if (app.telling === undefined) return undefined;
    const isReleasing = (): boolean =>
      this.#isReleasing && !detached.isUnderWay && inFlightOn(ledger).runs <= 1;
    return new RequestTeller(ledger, lane, app.clock, app.telling, isReleasing);
  }

  #listen(stream: StreamOrder): () => void {
    const { onReleaseAsked, request, sink } = this.#task;
    return listen(this.run, sink, request.signal, {
      landed: (seq) => stream.landed(seq),
      poke: () => {
        this.inbox.poke();
        this.#others.look();
      },
      stop: () => {
        onReleaseAsked();
        this.#release();
      },
    });
  }

  #release(): void {
    this.run.abort(new AbortReason('stopped', 'The process released the run.'));
  }

  /** Carries the run on until it ends or waits. */
  async work(): Promise<TurnEnd> {
    const { inbox, run } = this;
    const { app, open, request, runId, runnable, session } = this.#task;
    const { ledger } = session;
    const hasPosted = await session.posted();
    await session.observeShared({ declare: true });
    // Items that others have posted come before the events of this run.
    // The run of another lane may have the session already, so that no claim has told of items.
    const isBeside = inFlightOn(ledger).runs > 1;
    if (hasPosted || isBeside || ledger.lease.inboxSeq > 0) await inbox.drain();
    await this.#expiry.start();
    this.#teller?.start();
    inbox.start();
    this.#others.start();
    this.#cancelExpiredWait();
    applyEarlierCancel(run, open);
    const wasAborted = run.scope.aborted;
    if (!wasAborted) request.turn?.begin(run, request.task);
    // Its worker has found that it is to go on later.
    if (!wasAborted && isRelease(run.scope.reason)) return { kind: 'released' };
    if (this.#task.isReleaseAsked) this.#release();
    if (request.isWorker === true && !run.scope.aborted && isStillWaiting(ledger, runId))
      return { kind: 'unchanged' };
    if (open !== undefined && !run.scope.aborted) await assertAnswersUsable(run);
    this.#continueDetached();
    const { before, consumes, rows } = await this.#takeInput();
    const { timeoutMs } = request;
    const invoking = invoke(run, {
      path: runId,
      runnable,
      mode: 'root',
      lane: request.lane,
      model: request.model,
      input: rootInput(ledger, open, request),
      timeoutMs,
      scope: run.scope,
      activity: run.activity,
      before,
      extras: {
        wakeAt: app.clock.now(),
        ...(consumes.length === 0 ? {} : { consumes }),
        ...defined({ rows }),
      },
    });
    this.#confirmAccepted();
    const record = await invoking;
    await ledger.durable();
    if (record !== undefined) {
      beginPostProcess(run);
      // Spawned children that a changed body has left behind outlive it.
      this.#takeOverReleased();
    }
    run.detached.activity.reportWait();
    return record === undefined ? { kind: 'released' } : { kind: 'outcome', record };
  }

  /** Cancels the run when it waits for a message that did not come in time, and brings none. */
  #cancelExpiredWait(): void {
    const { app, isInputTaken, open, request, runId, session } = this.#task;
    const bringsInput = !isInputTaken && request.input !== undefined;
    if (open === undefined || bringsInput) return;
    const drafts = expiredWait(session.ledger, runId, app.clock.now());
    if (drafts.length > 0) session.ledger.append(drafts);
  }

  /** Continues detached work that other processes, or other runs of this one, have released. */
  #continueDetached(): void {
    const { onDetachedReleased } = inFlightOn(this.run.ledger);
    const takeOver = (): void => this.#takeOverReleased();
    onDetachedReleased.add(takeOver);
    this.#forgetReleased = () => onDetachedReleased.delete(takeOver);
    const { posted, runnable } = this.#task.request;
    // A run of its own begins even when this process lacks the lifecycle of an earlier run.
    const isAsked = runnable !== undefined || posted !== undefined;
    continueDetached(this.run, (path) => isAsked && isPartOfLifecycle(path));
  }

  /** Continues detached work that nobody works on any more, while this run can. */
  #takeOverReleased(): void {
    const { run } = this;
    if (this.#isReleasing || run.detached.scope.aborted || run.ledger.failure !== undefined) return;
    continueDetached(run, () => true);
  }

  #takeInput(): Promise<RunInput> {
    return this.#task.isInputTaken
      ? Promise.resolve(noRunInput)
      : takeRunInput(this.#task, this.inbox);
  }

  /**
   * Confirms to the sink that the request is in the ledger. The confirmation waits for the store.
   */
  #confirmAccepted(): void {
    const { runId, sink } = this.#task;
    const { id: session, ledger } = this.#task.session;
    if (!ledger.invocations.byPath.has(runId)) return;
    const { lastSeq } = ledger;
    sink.accept(async () => {
      if (ledger.durableSeq < lastSeq) await ledger.durable();
      return { session, runId };
    });
  }

  /**
   * Keeps the session for detached work after the root was released. It calls `resumeRun` of the
   * app
   * when something comes for the root.
   */
  async watchDetached(): Promise<void> {
    const { run } = this;
    const { clock, resumeRun } = this.#task.app;
    const { lane, ledger } = run;
    this.#isDetached = true;
    this.#forget();
    await this.#expiry.stop();
    const at = firstExpiry(ledger, lane);
    const resume = (): void => resumeRun(ledger.session, lane);
    const cancelTimer = at === null ? undefined : clock.setTimer(at - clock.now(), resume);
    const forgetFailure = ledger.onFailure((error) => run.abort(reasonOf(error)));
    this.#forget = () => {
      cancelTimer?.();
      forgetFailure();
    };
  }

  /** Stops listening to the ledger, the inbox and the caller. */
  async end(): Promise<void> {
    this.#forget();
    this.#forget = () => undefined;
    this.#forgetReleased();
    this.#teller?.stop();
    this.#others.stop();
    await this.inbox.stop();
    await this.#expiry.stop();
  }
}
