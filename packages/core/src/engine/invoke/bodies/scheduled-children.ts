import { AbortReason, CancelScope } from '../../../base/cancel-scope.ts';
import type { InputOrigin, InvocationInput } from '../../../ledger/event.ts';
import { type InvocationRecord, lastRecord } from '../../../ledger/folds/invocation-fold.ts';
import { childPath } from '../../../ledger/path.ts';
import { Activity } from '../../frame/activity.ts';
import type { Invokable } from '../../frame/invocation.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { invoke, isReleased } from '../invoke.ts';
import { outcomeSeq } from '../state/recorded-writes.ts';

/** Child that a body asks for. */
export interface ChildToSchedule {
  /** Last part of its path, unique below the body. */
  readonly key: string;
  readonly runnable: Invokable;
  readonly input?: InvocationInput | undefined;
  readonly inputFrom?: InputOrigin | undefined;
  /** True when it writes session state to an overlay of its own. */
  readonly branch?: boolean;
  readonly timeoutMs?: number | undefined;
  /** True for a child beside the limit, such as a question to people. */
  readonly isUnlimited?: boolean;
}

/** Child with an outcome. */
export interface EndedChild {
  readonly key: string;
  /** Last record of its slot, handoffs followed. */
  readonly record: InvocationRecord;
}

interface Child {
  readonly asked: ChildToSchedule;
  readonly path: string;
  readonly scope: CancelScope;
  /** Node of its work in the tree of activities; `undefined` until it begins here. */
  node: Activity | undefined;
  hasSettled: boolean;
}

/**
 * The children of one body that runs several at a time: a parallel, a plan, a graph. The body asks
 * for children by `start`, and is given their ends by `next`, one after the other in the order in
 * which the ledger has them. A body that does the same after the same ends can run again from the
 * top: recorded ends are given without running anything, then open children are continued, and only
 * then new ones begin. The limit counts children that work: those that wait for people, for an
 * instant or for a message leave their place to others.
 */
export class ScheduledChildren {
  readonly #frame: BodyFrame;
  readonly #limit: number;
  /** Children whose end the body has not been given, in the order in which it asked for them. */
  readonly #children = new Map<string, Child>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #scope: CancelScope;
  readonly #node: Activity;
  #endWait: (() => void) | undefined;
  #wasReleased = false;
  #failure: { readonly error: unknown } | undefined;

  /** @param limit most children that work at the same time */
  constructor(frame: BodyFrame, { limit = Number.POSITIVE_INFINITY }: { limit?: number } = {}) {
    this.#frame = frame;
    this.#limit = limit;
    this.#scope = new CancelScope(frame.scope);
    this.#node = new Activity(frame.record.path, frame.activity);
    // The body itself works unless it is in `next`, and there is nothing that it could begin.
    this.#node.judgeBy(() =>
      this.#endWait === undefined || this.#next() !== undefined ? 'busy' : 'idle',
    );
  }

  /** Asks for a child. It begins in the next `next`, as soon as the limit allows. */
  start(asked: ChildToSchedule): void {
    this.#children.set(asked.key, {
      asked,
      path: childPath(this.#frame.record.path, asked.key),
      scope: new CancelScope(this.#scope),
      node: undefined,
      hasSettled: false,
    });
  }

  /** True while the body has not been given the end of a child that it asked for. */
  has(key: string): boolean {
    return this.#children.has(key);
  }

  /** Forgets a child that has not begun. Returns false when it has: cancel it then. */
  forget(key: string): boolean {
    const child = this.#children.get(key);
    if (child === undefined) return true;
    if (child.node !== undefined || this.#isRecorded(child)) return false;
    return this.#children.delete(key);
  }

  /**
   * Cancels a child. Its end is given like any other. With the code `left` what it asked people is
   * withdrawn.
   */
  cancel(key: string, reason: string, code: 'cancelled' | 'left' = 'cancelled'): void {
    this.#children.get(key)?.scope.abort(new AbortReason(code, reason));
  }

  /** Cancels all children whose end the body has not been given. */
  cancelAll(reason: string): void {
    for (const key of [...this.#children.keys()]) this.cancel(key, reason);
  }

  /** True when a child was released: the body ends without recording an end then. */
  get wasReleased(): boolean {
    return this.#wasReleased;
  }

  /** Stops all children without ending them, so that another process can continue them. */
  async stop(reason: string): Promise<void> {
    this.#scope.abort(new AbortReason('stopped', reason));
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /**
   * Returns the next end; `undefined` when there is none to wait for, or when the body is to stop.
   * All children have settled then, so that the body may end.
   * @throws the error of a child that cannot be carried on, after the others were stopped
   */
  async next(): Promise<EndedChild | undefined> {
    const { run, scope } = this.#frame;
    for (;;) {
      if (this.#failure !== undefined) await this.#fail(this.#failure.error);
      if (scope.aborted || this.#wasReleased || isReleased(run, scope)) return this.#settle();
      const ended = this.#takeEnded();
      if (ended !== undefined) return ended;
      if (this.#children.size === 0) return this.#settle();
      this.#beginWhatMay();
      await this.#change();
    }
  }

  /** Resolves when nothing runs any more. Open children that have not begun here are ended. */
  async #settle(): Promise<undefined> {
    const { run, scope } = this.#frame;
    if (scope.aborted && !isReleased(run, scope))
      for (const child of this.#children.values())
        if (child.node === undefined && this.#isRecorded(child)) this.#begin(child);
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #fail(error: unknown): Promise<never> {
    await this.stop('A child beside it could not be carried on.');
    throw error;
  }

  /** Takes the child whose outcome was recorded first. */
  #takeEnded(): EndedChild | undefined {
    const { ledger } = this.#frame.run;
    let first: { readonly child: Child; readonly seq: number } | undefined;
    for (const child of this.#children.values()) {
      const seq = outcomeSeq(ledger, child.path);
      if (seq !== undefined && (first === undefined || seq < first.seq)) first = { child, seq };
    }
    if (first === undefined) return undefined;
    const { asked, path } = first.child;
    this.#children.delete(asked.key);
    return { key: asked.key, record: lastRecord(ledger.invocations, path) as InvocationRecord };
  }

  #isRecorded({ path }: Child): boolean {
    return this.#frame.run.ledger.invocations.byPath.has(path);
  }

  #beginWhatMay(): void {
    for (let child = this.#next(); child !== undefined; child = this.#next()) this.#begin(child);
  }

  /** Returns the first child that may begin now. What has begun before goes on at any limit. */
  #next(): Child | undefined {
    let places = this.#limit;
    const waiting: Child[] = [];
    for (const child of this.#children.values()) {
      const isLimited = child.asked.isUnlimited !== true;
      if (child.node === undefined) {
        if (!isLimited || this.#isRecorded(child)) return child;
        waiting.push(child);
      } else if (isLimited && !child.hasSettled && !child.node.isWaiting) places--;
    }
    return places > 0 ? waiting[0] : undefined;
  }

  #begin(child: Child): void {
    const { asked, path, scope } = child;
    const node = new Activity(path, this.#node);
    child.node = node;
    node.onWait = () => this.#wake();
    const ended = invoke(this.#frame.run, {
      path,
      runnable: asked.runnable,
      mode: 'child',
      ...(asked.branch === true ? { branch: true } : {}),
      input: asked.input,
      inputFrom: asked.inputFrom,
      timeoutMs: asked.timeoutMs,
      scope,
      activity: node,
    }).then(
      (record) => {
        if (record === undefined) this.#wasReleased = true;
      },
      (error: unknown) => {
        this.#failure ??= { error };
      },
    );
    this.#running.add(ended);
    ended.finally(() => {
      this.#running.delete(ended);
      child.hasSettled = true;
      node.end();
      scope.close();
      this.#wake();
    });
  }

  /** Waits until a child has ended or begun to wait. */
  #change(): Promise<void> {
    const changed = new Promise<void>((resolve) => {
      this.#endWait = resolve;
    });
    // Children that began to wait while the body worked have not been noticed as such.
    this.#node.reportWait();
    return changed;
  }

  #wake(): void {
    this.#endWait?.();
    this.#endWait = undefined;
  }
}
