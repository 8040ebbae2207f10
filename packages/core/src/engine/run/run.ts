import type { ErrorRecord } from '../../base/error.ts';
import type {
  InvocationStatus,
  StopReason,
  StreamEvent,
  TransientEvent,
} from '../../ledger/event.ts';
import type { RunReport } from '../../ledger/run-report.ts';
import type { PendingRequest } from '../../session/pending-request.ts';
import type { Session } from '../../session/session.ts';
import { runningBody } from '../frame/running-body.ts';
import { EventStream } from './stream/event-stream.ts';

/** The outcome of a run, and its usage. */
export interface RunResult<Output = unknown> extends RunReport {
  /**
   * `yielded`: it waits for an answer, a message or an instant, and goes on when it is run or
   * resumed after that.
   */
  readonly status: Exclude<InvocationStatus, 'transferred'> | 'yielded';
  readonly output: Output | undefined;
  /**
   * Confidence in the output, below 1 when it claims so itself or rests on doubted results alone;
   * `undefined` otherwise.
   */
  readonly confidence: number | undefined;
  readonly error: ErrorRecord | undefined;
  /** The limit that cut the run short; `undefined` when none did. */
  readonly stopReason: StopReason | undefined;
  /** Calls whose answers a yielded run waits for. */
  readonly pendingCalls: readonly PendingRequest[];
  /** Those of `pendingCalls` that ask for approval. */
  readonly pendingApprovals: readonly PendingRequest[];
  /** True when a loop waits for a message. */
  readonly awaitingInput: boolean;
  /**
   * Epoch milliseconds at which the first sleep of a yielded run ends; `undefined` when nothing
   * sleeps.
   */
  readonly sleepsUntil: number | undefined;
  /** Path of the invocation that waits; that of a loop that waits for a message comes first. */
  readonly yieldedInvocationId: string | undefined;
  readonly runId: string;
  readonly session: Session;
}

/** Control of the execution of a run. */
export interface RunControl {
  cancel(reason?: string): void;
  stop(): void;
  /** Reads the inbox, because an item may have been posted. */
  poke(): void;
}

/** Session and run that have a request. */
export interface AcceptedRun {
  readonly session: string;
  readonly runId: string;
}

type ConfirmRun = () => AcceptedRun | Promise<AcceptedRun>;

/** Connection from the execution of a run to the `Run` that callers hold. */
export interface RunSink {
  push(event: StreamEvent): void;
  /** Called when a transient event is made: it is pushed when the events before it are durable. */
  made(event: TransientEvent): void;
  readonly isHeard: boolean;
  /** Called once the execution can be steered. */
  attach(control: RunControl): void;
  /**
   * Called once when the request is on its way to the store. `confirm` resolves when it is durable;
   * it may never be called.
   */
  accept(confirm: ConfirmRun): void;
  /**
   * Registers work after the result: detached children, and the release of the session after them.
   */
  background(work: Promise<void>): void;
}

/**
 * A run under way. Await it for its result, or iterate over it for its events as they happen. Both
 * may be done, and neither drives it: it begins by itself and goes on without listeners.
 *
 * Awaiting rejects only when the run could not be carried out (`SessionBusyError`,
 * `StoreUnavailableError`, `RunStoppedError`, …). A run that failed is a result with status
 * `error`.
 */
export class Run<Output = unknown>
  implements PromiseLike<RunResult<Output>>, AsyncIterable<StreamEvent>
{
  readonly #result: Promise<RunResult<Output>>;
  readonly #streams = new Set<EventStream<StreamEvent>>();
  readonly #listeners = new Set<(event: StreamEvent) => void>();
  readonly #parts = new Set<(event: TransientEvent) => void>();
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
    const parts = this.#parts;
    const sink: RunSink = {
      push: (event) => {
        this.#tell(onStream, event);
        for (const stream of streams) stream.push(event);
        for (const listener of listeners) listener(event);
      },
      made: (event) => {
        for (const listener of parts) listener(event);
      },
      get isHeard() {
        return streams.size + listeners.size + parts.size > 0 || onStream !== undefined;
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
    // Started a tick later, so that a caller that iterates at once misses nothing.
    this.#result = Promise.resolve()
      .then(() => runningBody.exit(() => execute(sink)))
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
   * Resolves as soon as the request for the run is durable. Another process of the app would then
   * carry it on if this one died. Durable means: the start of the run, the message to the open run,
   * or the item for the process that holds the session. `runId` names the run that was open there.
   * When none is known, it names the run that the item will start. That run also starts when the
   * open one ends before it reads the item. A run that fails later has been accepted. Rejects when
   * the run could not be carried out before that.
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
    // A run that ends without a confirmation has only durable requests.
    if (this.#confirm === undefined)
      return this.#result.then(({ session, runId }) => ({ session: session.id, runId }));
    try {
      return await this.#confirm();
    } catch (error) {
      await this.#result;
      throw error;
    }
  }

  /**
   * Iterates over durable and transient events from now on. Leaving the iteration does not stop the
   * run.
   */
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
   * Calls `listener` with each transient event when it is made: events that were made before it may
   * not be durable yet. Returns a function that ends it.
   */
  listenToParts(listener: (event: TransientEvent) => void): () => void {
    this.#parts.add(listener);
    return () => this.#parts.delete(listener);
  }

  /**
   * Ends the run as cancelled: the model call and the tools are aborted, and the ledger records it.
   */
  cancel(reason?: string): void {
    this.#withControl((control) => control.cancel(reason));
  }

  /**
   * Releases the run without ending it. The model call is aborted, tools get a second, and nothing
   * more is recorded. Awaiting the run rejects with `RunStoppedError`. Any process can continue the
   * session.
   */
  stop(): void {
    this.#withControl((control) => control.stop());
  }

  /** Reads the inbox of the session at once, because an item may have been posted. */
  poke(): void {
    this.#control?.poke();
  }

  /**
   * Calls the listener of the caller. A listener that throws stops the run, which then rejects with
   * its error. A mistake of the caller must neither be lost nor look like a failed model.
   */
  #tell(onStream: ((event: StreamEvent) => void) | undefined, event: StreamEvent): void {
    if (onStream === undefined || this.#listenerFailure !== undefined) return;
    try {
      runningBody.exit(() => onStream(event));
    } catch (error) {
      this.#listenerFailure = { error };
      this.stop();
    }
  }

  /**
   * Resolves when no work of the run is under way, its detached children included. It never
   * rejects.
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
    // A run that has ended cannot be steered; its detached work can.
    if (this.#background === undefined)
      this.#control = { cancel: () => undefined, stop: () => undefined, poke: () => undefined };
    for (const stream of this.#streams) stream.close(end);
    this.#streams.clear();
  }
}
