import type { Runtime } from 'adjutant';
import { type Look, Watch, type WatchPorts } from './watch.ts';

/** Watches the same thing of all tenants that somebody listens to. */
export class Watches<Known, Change> {
  readonly #app: Runtime;
  readonly #lookOf: (app: Runtime) => Look<Known, Change>;
  readonly #ports: WatchPorts;
  readonly #watches = new Map<string, Watch<Known, Change>>();
  #listeners = 0;
  #unobserve: () => void = () => undefined;

  /** @param lookOf gives the look at what the app of a tenant has */
  constructor(app: Runtime, lookOf: (app: Runtime) => Look<Known, Change>, ports: WatchPorts) {
    this.#app = app;
    this.#lookOf = lookOf;
    this.#ports = ports;
  }

  /** As `listen` of the watch of the app's tenant. */
  async listen(
    app: Runtime,
    listener: (changes: readonly Change[]) => void,
  ): Promise<{ readonly known: Known; readonly end: () => void }> {
    const watch = this.#watches.get(app.tenant) ?? new Watch(this.#lookOf(app), this.#ports);
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
    return { known: listening.known, end };
  }

  /** Announces that something may have changed, by default of all tenants. */
  hint(tenant?: string): void {
    if (tenant !== undefined) this.#watches.get(tenant)?.hint();
    else for (const watch of this.#watches.values()) watch.hint();
  }

  /** The runs of this process hint at changes: what they append may be one. */
  #observe(): void {
    this.#unobserve = this.#app.streams.observe((operation, work) => {
      if (operation.type === 'run') operation.listen(() => this.hint());
      return work();
    });
  }
}
