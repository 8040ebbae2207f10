import type { Standstill } from './standstill.ts';

/** State of a body itself, apart from the work below it. */
type OwnState = 'busy' | 'idle' | Extract<Standstill, 'waiting'>;

/** Reason of a wait: an answer about a call, a message, an instant, or a closed gate. */
export type WaitReason = 'tool_input' | 'input' | 'sleep' | 'pause';

/**
 * Node in the tree of the work under way. A node waits when it does nothing itself and everything
 * below it waits. Nothing is remembered: the tree is searched downwards, only when something
 * begins to wait.
 */
export class Activity {
  readonly path: string;
  readonly #parents = new Set<Activity>();
  readonly #children = new Set<Activity>();
  #own: (() => OwnState) | undefined;
  #reason: WaitReason = 'tool_input';
  /** Called when something at or below this node may wait. */
  onWait: (() => void) | undefined;

  constructor(path: string, parent?: Activity) {
    this.path = path;
    if (parent !== undefined) this.attachTo(parent);
  }

  /**
   * Puts the node below another parent as well, such as a call that waits for a spawned child.
   * Returns a function that undoes it.
   */
  attachTo(parent: Activity): () => void {
    parent.#children.add(this);
    this.#parents.add(parent);
    return () => {
      if (!parent.#children.delete(this)) return;
      this.#parents.delete(parent);
      if (parent.#children.size > 0) parent.reportWait();
    };
  }

  /** Moves the node below `parent`, and below that alone. */
  moveTo(parent: Activity): void {
    this.end();
    this.attachTo(parent);
    this.reportWait();
  }

  /** Takes the node out of the tree. */
  end(): void {
    for (const parent of this.#parents) {
      parent.#children.delete(this);
      if (parent.#children.size > 0) parent.reportWait();
    }
    this.#parents.clear();
  }

  /**
   * Sets the function that returns the state of the body itself.
   * @default busy as long as nothing is below it
   */
  judgeBy(own: () => OwnState, reason: WaitReason = 'tool_input'): void {
    this.#own = own;
    this.#reason = reason;
  }

  /** Reports that the body may wait now. */
  reportWait(): void {
    this.onWait?.();
    for (const parent of this.#parents) parent.reportWait();
  }

  get hasChildren(): boolean {
    return this.#children.size > 0;
  }

  get isWaiting(): boolean {
    const own = this.#own?.() ?? (this.#children.size > 0 ? 'idle' : 'busy');
    if (own === 'busy') return false;
    if (this.#children.size === 0) return own === 'waiting';
    for (const child of this.#children) if (!child.isWaiting) return false;
    return true;
  }

  /** Yields each node at or below this one that waits itself. */
  *waiting(): Generator<{ readonly path: string; readonly reason: WaitReason }> {
    if (this.#own?.() === 'waiting') yield { path: this.path, reason: this.#reason };
    for (const child of this.#children) yield* child.waiting();
  }
}
