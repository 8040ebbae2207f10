import { setTimeout as wait } from 'node:timers/promises';
import { isAdjutantError, type Runtime } from 'adjutant';
import { tenants } from './order.ts';

const pauseMs = 20;

/** A task that was submitted. */
export interface Submitted {
  readonly tenant: string;
  readonly id: string;
}

/** Does something until the store is there for it. */
export async function persistently<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isAdjutantError(error, 'store_unavailable')) throw error;
      await wait(200);
    }
  }
}

/** Tasks that come in one after the other, whatever happens meanwhile. */
export class Load {
  readonly submitted: Submitted[] = [];
  readonly #app: Runtime;
  readonly #perSecond: number;
  #isOver = false;
  #ended: Promise<void> | undefined;

  constructor(app: Runtime, perSecond: number) {
    this.#app = app;
    this.#perSecond = perSecond;
  }

  begin(): void {
    this.#ended = this.#submit();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #submit(): Promise<void> {
    const began = performance.now();
    while (!this.#isOver) {
      const due = ((performance.now() - began) / 1_000) * this.#perSecond;
      if (this.submitted.length >= due) {
        await wait(pauseMs);
        continue;
      }
      const number = this.submitted.length;
      const tenant = tenants[number % tenants.length] ?? 'one';
      // With a name of its own, a submission whose answer was lost is not made twice.
      const { id } = await submitted(this.#app, { tenant, runnable: 'payer', key: `${number}` });
      this.submitted.push({ tenant, id });
    }
  }
}

interface Submission {
  readonly tenant: string;
  readonly runnable: string;
  readonly key: string;
}

/** Submits a task, once. */
export function submitted(app: Runtime, { tenant, runnable, key }: Submission) {
  const definition = app.runnables.find(({ name }) => name === runnable);
  if (definition === undefined) throw new Error(`There is no runnable ${runnable}.`);
  const own = app.tenants.get(tenant);
  return persistently(() => own.submit(definition, 'now', { key: `${runnable}-${key}` }));
}

/** Waits for the end of a task. */
export function ended(app: Runtime, { tenant, id }: Submitted) {
  return persistently(() => app.tenants.get(tenant).tasks.wait(id));
}
