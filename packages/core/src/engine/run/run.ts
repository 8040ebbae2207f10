import type { ErrorRecord } from '../../base/error.ts';
import type { InvocationStatus, StopReason, StreamEvent } from '../../ledger/event.ts';
import type { RunReport } from '../../ledger/run-report.ts';
import type { PendingCall } from '../../session/pending-call.ts';
import type { Session } from '../../session/session.ts';
import { EventStream } from './event-stream.ts';

/** How a run ended, and what it used. */
export interface RunResult<Output = unknown> extends RunReport {
  /** `yielded`: it waits for somebody outside, and goes on when it is run or resumed after that. */
  readonly status: Exclude<InvocationStatus, 'transferred'> | 'yielded';
  readonly output: Output | undefined;
  readonly error: ErrorRecord | undefined;
  /** The limit that cut the run short, if one did. */
  readonly stopReason: StopReason | undefined;
  /** What a run that yielded waits for: answers to these. */
  readonly pendingCalls: readonly PendingCall[];
  /** Those of `pendingCalls` that ask for leave. */
  readonly pendingApprovals: readonly PendingCall[];
  /** Whether a loop waits for a message. */
  readonly awaitingInput: boolean;
  /** Path of the invocation that waits: of the loop that waits for a message, if one does. */
  readonly yieldedInvocationId: string | undefined;
  readonly runId: string;
  readonly session: Session;
}

/** What a run's execution is steered by. */
export interface RunControl {
  cancel(reason?: string): void;
  stop(): void;
  /** Something may have been posted. */
  poke(): void;
}

/** Where what a run was asked for is kept. */
export interface AcceptedRun {
  readonly session: string;
  readonly runId: string;
}

type ConfirmRun = () => AcceptedRun | Promise<AcceptedRun>;

/** What an execution tells the run that people hold. */
export interface RunSink {
  push(event: StreamEvent): void;
  readonly isHeard: boolean;
  /** Called once the execution can be steered. */
  attach(control: RunControl): void;
  /**
   * Called once what was asked for is on its way to the store. `confirm` resolves when it is
   * durable; nobody may ever call it.
   */
  accept(confirm: ConfirmRun): void;
  /**
   * What goes on after the result: dispatched children, and giving the session back behind them.
   */
  background(work: Promise<void>): void;
}

/**
 * A run under way. Await it for its result, or iterate over it for its events as they happen; both
 * may be done, and neither drives it: it begins by itself and goes on when nobody listens.
 *
 * Awaiting rejects only for what kept the run from being carried out (`SessionBusyError`,
 * `StoreUnavailableError`, `RunStoppedError`, …). A run that failed is a result with status
 * `error`.
 */
export class Run<Output = unknown>
  implements PromiseLike<RunResult<Output>>, AsyncIterable<StreamEvent>
{
  readonly #result: Promise<RunResult<Output>>;
  readonly #streams = new Set<EventStream<StreamEvent>>();
  readonly #listeners = new Set<(event: StreamEvent) => void>();
  #end: { readonly error?: unknown } | undefined;
  #listenerFailure: { readonly error: unknown } | undefined;
  #control: RunControl | undefined;
  #background: Promise<void> | undefined;
  #pending: ((control: RunControl) => void)[] = [];
  #confirm: ConfirmRun | undefined;
  readonly #asked = Promise.withResolvers<void>();
  #accepted: Promise<AcceptedRun> | undefined;

  constructor(
    execute: (sink: RunSink) => Promise<RunResult<Output>>,
    onStream: ((event: StreamEvent) => void) | undefined,
  ) {
    const streams = this.#streams;
    const listeners = this.#listeners;
    const sink: RunSink = {
      push: (event) => {
        this.#tell(onStream, event);
        for (const stream of streams) stream.push(event);
        for (const listener of listeners) listener(event);
      },
      get isHeard() {
        return streams.size > 0 || listeners.size > 0 || onStream !== undefined;
      },
      attach: (control) => this.#attach(control),
      accept: (confirm) => {
        this.#confirm ??= confirm;
        this.#asked.resolve();
      },
      background: (work) => {
        this.#background = work.catch(() => undefined);
      },
    };
    // A tick later, so that whoever iterates at once misses nothing.
    this.#result = Promise.resolve()
      .then(() => execute(sink))
      .finally(() => {
        if (this.#listenerFailure !== undefined) throw this.#listenerFailure.error;
      });
    this.#result.then(
      () => this.#close({}),
      (error: unknown) => this.#close({ error }),
    );
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaitable by design
  then<Fulfilled = RunResult<Output>, Rejected = never>(
    onFulfilled?: ((result: RunResult<Output>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#result.then(onFulfilled, onRejected);
  }

  /** As with any promise. */
  catch<Rejected = never>(
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<RunResult<Output> | Rejected> {
    return this.#result.catch(onRejected);
  }

  /** As with any promise. */
  finally(onEnd?: (() => void) | null): Promise<RunResult<Output>> {
    return this.#result.finally(onEnd);
  }

  /**
   * Resolves as soon as what the run was asked for is durable: whoever else has the app would carry
   * it on if this process died now. That is the start of the run, the message to the open run, or
   * what was left for the process that holds the session; `runId` then names the run that was open
   * there, or, where none is known, the run that it will start. (It starts a run of its own also
   * when the open one ends before it is read.) A run that fails later has been accepted. Rejects
   * with what kept the run from being carried out when that came first.
   */
  accepted(): Promise<AcceptedRun> {
    if (this.#accepted === undefined) {
      this.#accepted = this.#whenAccepted();
      this.#accepted.catch(() => undefined);
    }
    return this.#accepted;
  }

  async #whenAccepted(): Promise<AcceptedRun> {
    if (this.#confirm === undefined) await Promise.race([this.#asked.promise, this.#result]);
    // A run that ends without having said so has nothing that is not durable.
    if (this.#confirm === undefined)
      return this.#result.then(({ session, runId }) => ({ session: session.id, runId }));
    try {
      return await this.#confirm();
    } catch (error) {
      await this.#result;
      throw error;
    }
  }

  /** Durable and transient events from now on. Leaving the iteration does not stop the run. */
  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent> {
    const stream = new EventStream<StreamEvent>(() => this.#streams.delete(stream));
    if (this.#end === undefined) this.#streams.add(stream);
    else stream.close(this.#end);
    return stream;
  }

  /** Calls `listener` with each event from now on. Returns a function that ends it. */
  listen(listener: (event: StreamEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Ends the run as cancelled: the model call and the tools are aborted, and the ledger says so.
   */
  cancel(reason?: string): void {
    this.#withControl((control) => control.cancel(reason));
  }

  /**
   * Gives the run back without ending it: the model call is aborted, tools get a second, nothing
   * more is recorded. Awaiting the run rejects with `RunStoppedError`; the session can be continued
   * from any process.
   */
  stop(): void {
    this.#withControl((control) => control.stop());
  }

  /**
   * Says that something may have been posted to the session: it is taken in at once instead of a
   * moment later.
   */
  poke(): void {
    this.#control?.poke();
  }

  /**
   * A listener that throws stops the run, which then rejects with its error: a mistake of the
   * caller must neither be lost nor look like a failed model.
   */
  #tell(onStream: ((event: StreamEvent) => void) | undefined, event: StreamEvent): void {
    if (onStream === undefined || this.#listenerFailure !== undefined) return;
    try {
      onStream(event);
    } catch (error) {
      this.#listenerFailure = { error };
      this.stop();
    }
  }

  /**
   * Resolves when nothing of the run is under way any more, its dispatched children included,
   * however it ended.
   */
  async settled(): Promise<void> {
    await this.#result.catch(() => undefined);
    await this.#background;
  }

  #withControl(use: (control: RunControl) => void): void {
    if (this.#control === undefined) this.#pending.push(use);
    else use(this.#control);
  }

  #attach(control: RunControl): void {
    this.#control = control;
    for (const use of this.#pending) use(control);
    this.#pending = [];
  }

  #close(end: { readonly error?: unknown }): void {
    this.#end = end;
    // What has ended can no longer be steered; what it dispatched can.
    if (this.#background === undefined)
      this.#control = { cancel: () => undefined, stop: () => undefined, poke: () => undefined };
    for (const stream of this.#streams) stream.close(end);
    this.#streams.clear();
  }
}
