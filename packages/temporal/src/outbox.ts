import type { EnginePlace, Host } from 'adjutant/ports';
import { reasonOf } from './connection.ts';

/** A wake on its way to Temporal. */
export interface Wake {
  readonly place: EnginePlace | undefined;
  /** From 0, first, to 4. */
  readonly level: number;
  /** Epoch milliseconds; missing for now. */
  readonly at?: number;
  /** True for a session that names its next time again and again. */
  readonly repeats?: boolean;
}

export interface OutboxParts {
  readonly host: Host;
  readonly send: (wake: Wake) => Promise<void>;
}

/** Wakes that are kept; the queue of the store has more, and the sweep finds them there. */
const mostKept = 10_000;
/** Wakes that are on their way at the same time. */
const mostAtOnce = 16;
/** Pause in milliseconds after a failure, at first and at most. */
const firstPauseMs = 250;
const longestPauseMs = 5_000;

/**
 * Wakes of this process that Temporal does not have yet. Wakes of one session are one, with the
 * highest of their priorities. While Temporal is away they stay, and are sent again.
 */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #waiting = new Map<string, Wake>();
  #underWay = 0;
  #failures = 0;
  #failure: string | undefined;
  #cancelPause: (() => void) | undefined;
  #isFlushing = false;
  #isStopped = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Number of wakes that Temporal does not have. */
  get size(): number {
    return this.#waiting.size + this.#underWay;
  }

  /** Reason why the last one was not taken; `undefined` when it was. */
  get failure(): string | undefined {
    return this.#failure;
  }

  add(wake: Wake): void {
    if (this.#isStopped) return;
    const key = keyOf(wake);
    const before = this.#waiting.get(key);
    if (before === undefined && this.#waiting.size >= mostKept) return;
    const level = Math.min(wake.level, before?.level ?? wake.level);
    this.#waiting.set(key, { ...wake, level });
    this.#flushSoon();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPause?.();
    this.#waiting.clear();
  }

  /** Wakes of the same turn are gathered. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#parts.host.afterTurn(() => {
      this.#isFlushing = false;
      if (!this.#isStopped) this.#flush();
    });
  }

  #flush(): void {
    // After a failure one is sent at a time, after a pause.
    const most = this.#failure === undefined ? mostAtOnce : 1;
    while (this.#cancelPause === undefined && this.#underWay < most) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [key, wake] = next;
      this.#waiting.delete(key);
      void this.#send(key, wake);
    }
  }

  async #send(key: string, wake: Wake): Promise<void> {
    this.#underWay += 1;
    try {
      await this.#parts.send(wake);
      this.#failure = undefined;
      this.#failures = 0;
    } catch (error) {
      if (!this.#waiting.has(key) && !this.#isStopped) this.#waiting.set(key, wake);
      this.#pause(error);
    } finally {
      this.#underWay -= 1;
    }
    if (!this.#isStopped) this.#flush();
  }

  #pause(error: unknown): void {
    this.#failure = reasonOf(error);
    if (this.#isStopped || this.#cancelPause !== undefined) return;
    const ms = Math.min(firstPauseMs * 2 ** this.#failures, longestPauseMs);
    this.#failures += 1;
    this.#cancelPause = this.#parts.host.setBackgroundTimer(ms, () => {
      this.#cancelPause = undefined;
      this.#flush();
    });
  }
}

function keyOf({ at, place }: Wake): string {
  return JSON.stringify([
    place?.tenant,
    place?.session,
    place === undefined ? at : at !== undefined,
  ]);
}
