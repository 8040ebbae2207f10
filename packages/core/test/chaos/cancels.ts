import { setTimeout as wait } from 'node:timers/promises';
import type { Runtime } from 'adjutant';
import { ended, submitted } from './load.ts';

const atOnce = 3;
const pollMs = 25;

/** Runs that are cancelled in the middle of a call, and how long each took to end. */
export class Cancels {
  readonly latenciesMs: number[] = [];
  /** Runs that ended otherwise. */
  wrong = 0;
  readonly #app: Runtime;
  #count = 0;

  constructor(app: Runtime) {
    this.#app = app;
  }

  /** Cancels runs that other processes work on. */
  async measure(): Promise<void> {
    await Promise.all(Array.from({ length: atOnce }, () => this.#one()));
  }

  async #one(): Promise<void> {
    const task = await submitted(this.#app, {
      tenant: 'one',
      runnable: 'sleeper',
      key: `${this.#count++}`,
    });
    const tasks = this.#app.tenants.get('one').tasks;
    while ((await tasks.get(task.id)).state !== 'running') await wait(pollMs);
    const began = performance.now();
    await tasks.cancel(task.id);
    const { status } = await ended(this.#app, { tenant: 'one', id: task.id });
    this.latenciesMs.push(Math.round(performance.now() - began));
    if (status !== 'cancelled') this.wrong += 1;
  }
}
