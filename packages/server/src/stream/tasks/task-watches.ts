import type { Runtime } from 'adjutant';
import type { TaskInfo } from 'adjutant/scheduler';
import { TaskWatch, type TaskWatchPorts } from './task-watch.ts';

/** Watches the tasks of all tenants that somebody listens to. */
export class TaskWatches {
  readonly #app: Runtime;
  readonly #ports: TaskWatchPorts;
  readonly #watches = new Map<string, TaskWatch>();
  #listeners = 0;
  #unobserve: () => void = () => undefined;

  constructor(app: Runtime, ports: TaskWatchPorts) {
    this.#app = app;
    this.#ports = ports;
  }

  /** As `listen` of the watch of the app's tenant. */
  async listen(
    app: Runtime,
    listener: (tasks: readonly TaskInfo[]) => void,
  ): Promise<{ readonly open: readonly TaskInfo[]; readonly end: () => void }> {
    const watch = this.#watches.get(app.tenant) ?? new TaskWatch(app, this.#ports);
    this.#watches.set(app.tenant, watch);
    const listening = await watch.listen(listener);
    if (this.#listeners === 0) this.#observe();
    this.#listeners += 1;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      listening.end();
      this.#listeners -= 1;
      if (this.#listeners === 0) this.#unobserve();
    };
    return { open: listening.open, end };
  }

  /** Announces that tasks may have changed, by default of all tenants. */
  hint(tenant?: string): void {
    if (tenant !== undefined) this.#watches.get(tenant)?.hint();
    else for (const watch of this.#watches.values()) watch.hint();
  }

  /** The runs of this process hint at changes: what they append may change a task. */
  #observe(): void {
    this.#unobserve = this.#app.streams.observe((operation, work) => {
      if (operation.type === 'run') operation.listen(() => this.hint());
      return work();
    });
  }
}
