/**
 * Gate of a run: while it is closed the run is paused, and nothing new begins. A pause closes it,
 * or the end of a round or of a slice of time.
 */
export class Gate {
  #closedFor: string | undefined;
  readonly #onClose = new Set<() => void>();

  get isClosed(): boolean {
    return this.#closedFor !== undefined;
  }

  /** Reason of the close; `undefined` while the gate is open. */
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
