import { type AbortReason, CancelScope } from '../../../base/cancel-scope.ts';

/** Children and effects of a body that have not ended. The body must not end before them. */
export class RunningChildren {
  readonly #parent: CancelScope;
  readonly #running = new Set<Promise<unknown>>();
  #scope: CancelScope | undefined;

  /** @param parent scope of the body */
  constructor(parent: CancelScope) {
    this.#parent = parent;
  }

  /** Scope that stops them all. */
  get scope(): CancelScope {
    this.#scope ??= new CancelScope(this.#parent);
    return this.#scope;
  }

  /**
   * Adds a child until it has ended. A rejection that no caller awaits must not end the process.
   * @returns a function that forgets the child: the body may end before it
   */
  add(ended: Promise<unknown>): () => void {
    const tracked = ended.finally(() => this.#running.delete(tracked));
    tracked.catch(() => undefined);
    this.#running.add(tracked);
    return () => void this.#running.delete(tracked);
  }

  /** Resolves when all have ended; `undefined` when there are none. */
  ended(): Promise<void> | undefined {
    return this.#running.size === 0 ? undefined : this.#allEnded();
  }

  async #allEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Stops them and resolves when they have ended. */
  stop(reason: AbortReason): Promise<void> | undefined {
    this.#scope?.abort(reason);
    return this.ended()?.catch(() => this.stop(reason));
  }
}
