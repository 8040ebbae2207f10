import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../../../../scripts/bundle.ts';
import { repositoryRoot } from '../../../../scripts/command.ts';
import { isRunning } from '../../../../scripts/local-service.ts';
import type { WorkerOrder } from './order.ts';

// The package of Temporal is not bundled: it finds the core's sources.
const conditions = ['--conditions=adjutant-source'];
/** Milliseconds by which the clocks of the machines are wrong. */
const skews = [0, 10_000, -10_000] as const;
/** Milliseconds in which a worker that is told to end must have ended. */
const endWithinMs = 10_000;

/** Worker processes on one store, of machines with different clocks. */
export class Fleet {
  readonly #program: string;
  readonly #order: WorkerOrder;
  readonly #workers: ChildProcess[] = [];
  #version: WorkerOrder['version'] = 1;
  /** Workers that did not end by themselves when they were told to. */
  stuck = 0;

  private constructor(program: string, order: WorkerOrder) {
    this.#program = program;
    this.#order = order;
  }

  static async start(order: WorkerOrder): Promise<Fleet> {
    const program = await bundleProgram(
      fileURLToPath(new URL('./chaos-worker.ts', import.meta.url)),
      join(repositoryRoot, 'node_modules/.cache/chaos-worker'),
    );
    const fleet = new Fleet(program, order);
    for (const [place] of skews.entries()) fleet.#begin(place);
    return fleet;
  }

  #begin(place: number): void {
    const order = { ...this.#order, version: this.#version, skewMs: skews[place] ?? 0 };
    this.#workers[place] = spawn(
      process.execPath,
      [...conditions, this.#program, JSON.stringify(order)],
      {
        stdio: ['pipe', 'ignore', 'inherit'],
        // They tell of each look that a store which is away does not answer.
        env: { ...process.env, NODE_NO_WARNINGS: '1' },
      },
    );
  }

  /** Kills a worker in the middle of its work, and starts another one. */
  async kill(place: number): Promise<void> {
    await this.#end(place, 'SIGKILL');
    this.#begin(place);
  }

  /** Stops a worker for longer than its leases last, and lets it go on as if it had never slept. */
  async freeze(place: number, ms: number): Promise<void> {
    const worker = this.#workers[place];
    worker?.kill('SIGSTOP');
    await wait(ms);
    worker?.kill('SIGCONT');
  }

  /** Replaces one worker after the other by the other version of the code. */
  async deploy(): Promise<void> {
    this.#version = this.#version === 1 ? 2 : 1;
    for (const [place] of skews.entries()) {
      await this.#end(place, 'SIGTERM');
      this.#begin(place);
    }
  }

  async stop(): Promise<void> {
    for (const [place] of skews.entries()) await this.#end(place, 'SIGKILL');
  }

  async #end(place: number, signal: NodeJS.Signals): Promise<void> {
    const worker = this.#workers[place];
    if (worker === undefined || !isRunning(worker)) return;
    const exited = once(worker, 'exit').then(() => true);
    worker.kill(signal);
    if (await Promise.race([exited, wait(endWithinMs, false, { ref: false })])) return;
    this.stuck += 1;
    worker.kill('SIGKILL');
    await exited;
  }
}
