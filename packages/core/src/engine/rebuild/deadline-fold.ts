import { defined } from '../../base/defined.ts';

interface Left {
  readonly softMs?: number | undefined;
  readonly hardMs?: number | undefined;
}

/**
 * Time left of the deadlines of a task. It passes in the queue and at work, and stands still while
 * the task rests.
 */
export class DeadlineFold {
  #left: Left;
  #passes: boolean;
  /** Instant at which that much was left, while the time passes. */
  #mark = 0;

  constructor(left: Left, passes: boolean) {
    this.#left = left;
    this.#passes = passes;
  }

  set(left: Left): void {
    this.#left = left;
  }

  /** Takes over deadlines that are earlier, told from an instant. */
  join(other: Left, at: number): void {
    const { hardMs, softMs } = this.#passes ? this.#after(at - this.#mark) : this.#left;
    const sooner = (own: number | undefined, ms: number | undefined): number | undefined =>
      own === undefined || ms === undefined ? (own ?? ms) : Math.min(own, ms);
    this.#left = { softMs: sooner(softMs, other.softMs), hardMs: sooner(hardMs, other.hardMs) };
    if (this.#passes) this.#mark = at;
  }

  markAt(at: number): void {
    this.#mark = at;
  }

  /** Lets the time pass again. */
  run(at: number): void {
    this.#passes = true;
    this.#mark = at;
  }

  /** Stops the time. */
  pause(at: number): void {
    if (this.#passes) this.#left = this.#after(at - this.#mark);
    this.#passes = false;
  }

  #after(ms: number): Left {
    const { hardMs, softMs } = this.#left;
    const left = (of: number | undefined): number | undefined =>
      of === undefined ? undefined : Math.max(0, of - ms);
    return { softMs: left(softMs), hardMs: left(hardMs) };
  }

  /** Time left: now while the task rests, else at an instant. */
  left(since: number): { readonly softMs?: number; readonly hardMs?: number } {
    if (!this.#passes) return defined({ ...this.#left });
    const { hardMs, softMs } = this.#left;
    const moved = this.#mark - since;
    return defined({
      softMs: softMs === undefined ? undefined : softMs + moved,
      hardMs: hardMs === undefined ? undefined : hardMs + moved,
    });
  }
}
