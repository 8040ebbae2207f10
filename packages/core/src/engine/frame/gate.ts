/**
 * Decides whether a run may begin anything more: it may not once it is paused, or has done its
 * round or its slice of time.
 */
export class Gate {
  #closedFor: string | undefined;
  readonly #onClose = new Set<() => void>();

  get isClosed(): boolean {
    return this.#closedFor !== undefined;
  }

  /** Why it is closed. */
  get closedFor(): string | undefined {
    return this.#closedFor;
  }

  close(why: 'pause' | 'round' | 'slice'): void {
    if (this.#closedFor !== undefined) return;
    this.#closedFor = why;
    for (const tell of this.#onClose) tell();
    this.#onClose.clear();
  }

  /** Calls `tell` when the gate is closed. Returns a function that forgets it. */
  onClose(tell: () => void): () => void {
    this.#onClose.add(tell);
    return () => this.#onClose.delete(tell);
  }
}
