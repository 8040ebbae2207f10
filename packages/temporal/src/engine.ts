import type { Client } from '@temporalio/client';
import type {
  Engine,
  EngineHealth,
  EnginePlace,
  EngineWork,
  TimeOptions,
  WakeOptions,
} from 'adjutant/ports';
import { activitiesOf } from './activities.ts';
import { sendWake } from './bursts.ts';
import { connect, reasonOf } from './connection.ts';
import { defaultTaskQueue } from './names.ts';
import { type ResolvedOptions, resolveOptions, type TemporalOptions } from './options.ts';
import { Outbox } from './outbox.ts';
import { ensureSweep } from './sweep.ts';
import { type RunningWorker, startWorker } from './worker.ts';

/** Numbers of an engine, since its start. */
export interface TemporalMetrics {
  /** Wakes that Temporal has taken from this process. */
  readonly wakes: number;
  /** Wakes that wait until Temporal takes them. */
  readonly waiting: number;
  /** Bursts that the worker of this process has carried out. */
  readonly bursts: number;
}

/** An engine whose wakes go through Temporal. */
export interface TemporalEngine extends Engine {
  readonly metrics: TemporalMetrics;
}

interface Started {
  readonly client: Client;
  readonly outbox: Outbox;
  readonly worker: RunningWorker | undefined;
}

/** Pause in milliseconds before another worker takes the place of one that has failed. */
const restartMs = 5_000;
/** Level of a wake that says nothing of it, and of a cancel. */
const usualLevel = 1;
const firstLevel = 0;

class Temporal implements TemporalEngine {
  readonly name = 'temporal';
  readonly isShared = true;
  readonly #options: ResolvedOptions;
  readonly #stopping = new AbortController();
  #started: Started | undefined;
  #wakes = 0;
  #bursts = 0;
  #workerFailure: string | undefined;
  #cancelRestart: () => void = () => undefined;
  /** Times that Temporal has been told of for no session. */
  #nextAt = 0;
  #now: () => number = Date.now;

  constructor(options: ResolvedOptions) {
    this.#options = options;
  }

  get metrics(): TemporalMetrics {
    const waiting = this.#started?.outbox.size ?? 0;
    return { wakes: this.#wakes, waiting, bursts: this.#bursts };
  }

  async start(work: EngineWork): Promise<void> {
    const { app, clock, host } = work;
    const taskQueue = this.#options.taskQueue ?? defaultTaskQueue(app);
    const client = await connect(this.#options);
    const unique = (): string => host.ids.next();
    this.#now = () => clock.now();
    const bursts = { app, taskQueue, unique, now: this.#now };
    const outbox = new Outbox({
      host,
      send: async (wake) => {
        await sendWake(client, bursts, wake);
        this.#wakes += 1;
      },
    });
    let worker: RunningWorker | undefined;
    try {
      await ensureSweep(client, { app, taskQueue, sweepMs: this.#options.sweepMs });
      if (this.#options.worker) worker = await this.#startWorker(work, taskQueue);
    } catch (error) {
      await client.connection.close();
      throw error;
    }
    if (this.#stopping.signal.aborted) {
      outbox.stop();
      await worker?.stop();
      await client.connection.close();
      return;
    }
    this.#started = { client, outbox, worker };
    // Work that has come while no process was there.
    this.wake();
  }

  async #startWorker(work: EngineWork, taskQueue: string): Promise<RunningWorker> {
    const activities = activitiesOf({
      work,
      stopping: this.#stopping.signal,
      onTaken: () => this.wake(),
      onBurst: () => {
        this.#bursts += 1;
      },
    });
    const worker = await startWorker(this.#options, { taskQueue, slots: work.slots, activities });
    void worker.ended
      .catch((error: unknown) => error)
      .then((reason) => this.#workerEnded(work, taskQueue, reason));
    return worker;
  }

  /** Starts another worker in the place of one that has failed, until that succeeds. */
  #workerEnded(work: EngineWork, taskQueue: string, reason: unknown): void {
    if (this.#stopping.signal.aborted) return;
    this.#workerFailure = `the worker has failed: ${reasonOf(reason)}`;
    work.host.warn(`Temporal: ${this.#workerFailure}`, 'temporal_worker_failed');
    this.#cancelRestart = work.host.setBackgroundTimer(restartMs, () => {
      this.#startWorker(work, taskQueue).then(
        (worker) => this.#restarted(worker),
        (error: unknown) => this.#workerEnded(work, taskQueue, error),
      );
    });
  }

  #restarted(worker: RunningWorker): void {
    this.#workerFailure = undefined;
    if (this.#started === undefined) void worker.stop();
    else this.#started = { ...this.#started, worker };
  }

  wake(place?: EnginePlace, { level = usualLevel }: WakeOptions = {}): void {
    this.#started?.outbox.add({ place, level });
  }

  schedule(at: number, place?: EnginePlace, { repeats = false }: TimeOptions = {}): void {
    if (place === undefined) {
      // One time for all that is due next.
      if (this.#nextAt > this.#now() && this.#nextAt <= at) return;
      this.#nextAt = at;
    }
    this.#started?.outbox.add({ place, level: usualLevel, at, repeats });
  }

  cancel(place: EnginePlace): void {
    this.wake(place, { level: firstLevel });
  }

  async health(): Promise<EngineHealth> {
    const engine = this.name;
    if (this.#started === undefined || this.#stopping.signal.aborted) {
      const reason = this.#stopping.signal.aborted ? 'it was stopped' : 'it was not started';
      return { engine, status: 'stopped', message: reason };
    }
    const message = this.#workerFailure ?? (await this.#serverFailure(this.#started));
    return message === undefined
      ? { engine, status: 'ok' }
      : { engine, status: 'degraded', message, waiting: this.#started.outbox.size };
  }

  async #serverFailure({ client, outbox }: Started): Promise<string | undefined> {
    const { address, connectTimeoutMs } = this.#options;
    const { connection } = client;
    try {
      await connection.withDeadline(this.#deadline(connectTimeoutMs), () =>
        connection.workflowService.getSystemInfo({}),
      );
      return outbox.failure;
    } catch (error) {
      return `the Temporal server at ${address} does not answer (${reasonOf(error)})`;
    }
  }

  #deadline(ms: number): number {
    return Date.now() + ms;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelRestart();
    const started = this.#started;
    this.#started = undefined;
    started?.outbox.stop();
    await started?.worker?.stop();
    await started?.client.connection.close();
  }
}

/**
 * Makes an engine whose wakes go through Temporal, for one app. The ledger stays the only truth:
 * Temporal gets names of sessions, and says when to advance them.
 * @throws InvalidTemporalOptionsError
 */
export const temporalEngine = (options: TemporalOptions = {}): TemporalEngine =>
  new Temporal(resolveOptions(options));
