import type { AbortReason } from '../../base/cancel-scope.ts';
import { Activity } from '../frame/activity.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import type { AgentParts } from './agent-parts.ts';
import type { ChangeSignal } from './change-signal.ts';

/** Work of one agent invocation that is under way: model calls, tool calls and spawned children. */
export class WorkUnderWay {
  /** Keys of the work, as the next steps are decided by them. */
  readonly keys: ReadonlySet<string>;
  readonly #parts: AgentParts;
  readonly #changes: ChangeSignal;
  readonly #inFlight = new Map<string, Promise<void>>();
  /**
   * Activities of calls that have begun children. Such a call is waiting when all of its children
   * are.
   */
  readonly #toolActivities = new Map<string, Activity>();
  #failure: { readonly error: unknown } | undefined;

  constructor(parts: AgentParts, changes: ChangeSignal) {
    this.#parts = parts;
    this.#changes = changes;
    this.keys = {
      has: (key: string) => this.#inFlight.has(key),
      [Symbol.iterator]: () => this.#inFlight.keys(),
    } as ReadonlySet<string>;
  }

  /** First failure of the work, which the agent cannot handle. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** True when there is work besides spawned children and calls that have begun children. */
  get isBusy(): boolean {
    for (const key of this.#inFlight.keys())
      if (!this.#toolActivities.has(key) && !key.startsWith('spawn:')) return true;
    return false;
  }

  start(key: string, work: Promise<void>): void {
    const tracked = work.then(
      () => this.#endOf(key),
      (error: unknown) => {
        this.#failure ??= { error };
        this.#endOf(key);
      },
    );
    this.#inFlight.set(key, tracked);
  }

  #endOf(key: string): void {
    this.#inFlight.delete(key);
    this.#toolActivities.get(key)?.end();
    this.#toolActivities.delete(key);
    this.#changes.notify();
  }

  /** True when all children of a tool call are waiting. */
  isWaiting(callId: string): boolean {
    return this.#toolActivities.get(`tool:${callId}`)?.isWaiting ?? false;
  }

  /** Returns the activity of a call. It is part of the tree after the call has begun a child. */
  activityOf(callId: string): Activity {
    const key = `tool:${callId}`;
    const activity =
      this.#toolActivities.get(key) ?? new Activity(callId, this.#parts.frame.activity);
    this.#toolActivities.set(key, activity);
    return activity;
  }

  /** Resolves when all work has ended: tools have their grace period. */
  async ended(): Promise<void> {
    await Promise.all(this.#inFlight.values());
    const { underWay } = inFlightOn(this.#parts.frame.run.ledger);
    for (const path of [...this.#parts.position.children.open])
      await underWay.get(path)?.ended.catch(() => undefined);
  }

  async stop(reason: AbortReason): Promise<void> {
    this.#parts.work.abort(reason);
    await this.ended();
  }

  close(): void {
    this.#parts.work.close();
  }
}
