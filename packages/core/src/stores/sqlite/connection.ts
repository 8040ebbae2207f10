import { Worker } from 'node:worker_threads';
import { StoreUnavailableError } from '../../ledger/errors.ts';
import { Pressure } from '../pressure.ts';
import { fromFailure } from './failure.ts';
import type { Operation, Operations, Outcome, WorkerSettings } from './protocol.ts';

export type StartWorker = (settings: WorkerSettings) => Worker;

/** Starts the worker from the file beside this one, in whichever form this one is run. */
export function startSqliteWorker(settings: WorkerSettings): Worker {
  const file = new URL(
    import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js',
    import.meta.url,
  );
  // The worker does not get the arguments of the process: some (`--input-type`, `--import`) would
  // break or slow its start.
  return new Worker(file, { workerData: settings, name: 'adjutant-sqlite', execArgv: [] });
}

interface FailureNature {
  readonly permanent?: true;
  readonly undetermined?: true;
}

interface Pending {
  readonly resolve: (reply: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The main thread's end of the worker. Requests of one turn of the event loop go in one message and
 * are answered in order. The worker is started by the first request and keeps the process alive
 * only while requests are open.
 */
export class WorkerConnection {
  readonly settings: WorkerSettings;
  readonly pressure = new Pressure(
    () => this.#pending.length - this.#answered,
    () => this.#tryRoom(),
  );
  readonly #startWorker: StartWorker;
  #worker: Worker | undefined;
  #outgoing: (readonly [Operation, unknown])[] = [];
  #pending: Pending[] = [];
  #answered = 0;
  #closing: Promise<void> | undefined;

  constructor(settings: WorkerSettings, startWorker: StartWorker) {
    this.settings = settings;
    this.#startWorker = startWorker;
  }

  request<Name extends Operation>(
    operation: Name,
    request: Operations[Name]['request'],
  ): Promise<Operations[Name]['reply']> {
    if (this.#closing !== undefined)
      return Promise.reject(this.#unavailable('it has been closed', { permanent: true }));
    return this.#send(operation, request);
  }

  /** Sends all requests now, because the thread is about to be busy for a while. */
  flush(): void {
    if (this.#outgoing.length > 0) this.#flush();
  }

  /** Waits for open requests, closes the file and ends the worker. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    if (this.#worker === undefined && this.#outgoing.length === 0) return;
    try {
      await this.#send('close', null);
    } finally {
      const worker = this.#worker;
      this.#worker = undefined;
      await worker?.terminate();
    }
  }

  #send<Name extends Operation>(
    operation: Name,
    request: Operations[Name]['request'],
  ): Promise<Operations[Name]['reply']> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      // A tick runs after all microtasks, so all callers that go on after the last replies are in
      // one message.
      if (this.#outgoing.push([operation, request]) === 1) process.nextTick(() => this.flush());
    });
  }

  #flush(): void {
    const requests = this.#outgoing;
    this.#outgoing = [];
    try {
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage(requests);
    } catch (error) {
      // A value that cannot be copied to the worker now cannot be copied later.
      const permanent = (error as Error).name === 'DataCloneError';
      this.#failPending(
        `its worker thread could not be started or reached: ${(error as Error).message}`,
        permanent ? { permanent } : {},
      );
    }
  }

  #start(): Worker {
    const worker = this.#startWorker(this.settings);
    let cause = 'it stopped';
    worker.on('message', (outcomes: readonly Outcome[]) => this.#receive(outcomes));
    worker.on('error', (error) => {
      cause = error instanceof Error ? error.message : String(error);
    });
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#failPending(
        `its worker thread ended (${cause}), so it is not known which open requests were ` +
          'carried out',
        { undetermined: true },
      );
    });
    return worker;
  }

  #receive(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      const pending = this.#pending[this.#answered++] as Pending;
      if ('failure' in outcome) this.#fail(pending, fromFailure(outcome.failure));
      else pending.resolve(outcome.reply as never);
    }
    if (this.#answered < this.#pending.length) return;
    this.#pending = [];
    this.#answered = 0;
    this.#worker?.unref();
  }

  #fail(pending: Pending, error: Error): void {
    this.pressure.failed(error);
    pending.reject(error);
  }

  async #tryRoom(): Promise<void> {
    await this.request('tryRoom', { step: 'write' });
    await this.request('tryRoom', { step: 'remove' });
  }

  #failPending(reason: string, nature: FailureNature): void {
    const open = this.#pending.slice(this.#answered, this.#pending.length - this.#outgoing.length);
    this.#pending = this.#pending.slice(this.#pending.length - this.#outgoing.length);
    this.#answered = 0;
    const error = this.#unavailable(reason, nature);
    for (const { reject } of open) reject(error);
  }

  #unavailable(reason: string, nature: FailureNature): StoreUnavailableError {
    return new StoreUnavailableError({ store: this.settings.path, reason, ...nature });
  }
}
