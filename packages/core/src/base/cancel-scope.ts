/**
 * The reason for which work is stopped. `AbortSignal.reason` shows its `name` and `code` to user
 * code.
 */
export class AbortReason extends Error {
  /**
   * `cancelled` by a person or the caller, `timeout`, `stopped` (the process releases the run),
   * `waiting` (the work waits for a person or another process), `fenced` (another owner has the
   * run), `interrupted` (a message came that cannot wait), `left` (the body that waited
   * for it has ended).
   */
  readonly code:
    | 'cancelled'
    | 'timeout'
    | 'stopped'
    | 'waiting'
    | 'fenced'
    | 'interrupted'
    | 'left';

  constructor(code: AbortReason['code'], message: string) {
    super(message);
    this.name = 'AbortError';
    this.code = code;
  }
}

/**
 * True when the work is released: it goes on later or elsewhere, and nothing more is recorded here.
 */
export function isRelease(reason: AbortReason | undefined): boolean {
  const code = reason?.code;
  return code === 'stopped' || code === 'waiting' || code === 'fenced';
}

/**
 * A node in the tree of work that is cancelled together. Cheaper than a chain of `AbortSignal.any`:
 * the `AbortSignal` is made on its first use, and a scope that ends forgets its parent.
 */
export class CancelScope {
  #parent: CancelScope | undefined;
  #listeners: Set<(reason: AbortReason) => void> | undefined;
  #controller: AbortController | undefined;
  #reason: AbortReason | undefined;
  #unlink: (() => void) | undefined;

  constructor(parent?: CancelScope) {
    this.#parent = parent;
    if (parent === undefined) return;
    if (parent.reason !== undefined) this.#reason = parent.reason;
    else this.#unlink = parent.onAbort((reason) => this.abort(reason));
  }

  get reason(): AbortReason | undefined {
    return this.#reason;
  }

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Aborts this scope and all below it. The first reason stays. */
  abort(reason: AbortReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener(reason);
  }

  /**
   * Calls `listener` once when the scope is aborted, at once if it already is. Returns a function
   * that forgets it.
   */
  onAbort(listener: (reason: AbortReason) => void): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return () => undefined;
    }
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }

  /** Ends the scope's life: an abort of its parent no longer reaches it. */
  close(): void {
    this.#unlink?.();
    this.#unlink = undefined;
    this.#parent = undefined;
  }

  get parent(): CancelScope | undefined {
    return this.#parent;
  }
}
