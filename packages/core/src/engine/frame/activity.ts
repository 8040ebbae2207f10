/** What a body does itself, apart from what it waits for below it. */
type OwnState = 'busy' | 'idle' | 'waiting';

/**
 * Why something waits: for an answer about a call, for a message, or because no more is to be begun
 * for now.
 */
export type WaitReason = 'tool_input' | 'input' | 'gate';

/**
 * A node in the tree of what is under way. A node waits when it does nothing itself, and everything
 * below it waits. Nothing is remembered: whoever wants to know looks down the tree, which happens
 * only when something comes to rest.
 */
export class Activity {
  readonly path: string;
  readonly #parents = new Set<Activity>();
  readonly #children = new Set<Activity>();
  #own: (() => OwnState) | undefined;
  #reason: WaitReason = 'tool_input';
  /** Called when something at or below this node has come to rest. */
  onRest: (() => void) | undefined;

  constructor(path: string, parent?: Activity) {
    this.path = path;
    if (parent !== undefined) this.attachTo(parent);
  }

  /**
   * Something may wait for what another started, as a call for a spawned child: it is below both.
   */
  attachTo(parent: Activity): () => void {
    parent.#children.add(this);
    this.#parents.add(parent);
    return () => {
      if (!parent.#children.delete(this)) return;
      this.#parents.delete(parent);
      if (parent.#children.size > 0) parent.rest();
    };
  }

  /** It belongs to another part of the tree from now on, and to that alone. */
  moveTo(parent: Activity): void {
    this.end();
    this.attachTo(parent);
    this.rest();
  }

  /** Takes the node out of the tree. */
  end(): void {
    for (const parent of this.#parents) {
      parent.#children.delete(this);
      if (parent.#children.size > 0) parent.rest();
    }
    this.#parents.clear();
  }

  /**
   * Says how to find out what the body does itself. @default busy as long as nothing is below it
   */
  judgeBy(own: () => OwnState, reason: WaitReason = 'tool_input'): void {
    this.#own = own;
    this.#reason = reason;
  }

  /** Says that the body may have come to rest. */
  rest(): void {
    this.onRest?.();
    for (const parent of this.#parents) parent.rest();
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

  /** What waits itself, at or below this node. */
  *waiting(): Generator<{ readonly path: string; readonly reason: WaitReason }> {
    if (this.#own?.() === 'waiting') yield { path: this.path, reason: this.#reason };
    for (const child of this.#children) yield* child.waiting();
  }
}
