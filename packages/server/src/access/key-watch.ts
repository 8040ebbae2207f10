import type { Clock } from 'adjutant/ports';
import { endOfSecret } from './api-key.ts';
import type { KeyRing } from './key-ring.ts';

/** Secret of a key that admits a caller. */
export interface WatchedSecret {
  readonly id: string;
  readonly secretHash: string;
}

interface Watcher extends WatchedSecret {
  /** Called once, when the secret is not accepted any more. */
  readonly onEnd: () => void;
  /** Epoch milliseconds at which it ends by itself, as far as is known. */
  endsAt: number;
  stopTimer: () => void;
}

export interface KeyWatchPorts {
  readonly ring: KeyRing;
  readonly clock: Clock;
  /**
   * Called with the reason when keys cannot be watched. All watchers are then told that their watch
   * has ended.
   */
  readonly onError: (error: unknown) => void;
  /** Aborted when the server closes: that the store may be gone then is no error. */
  readonly closing: AbortSignal;
}

/**
 * Says when secrets of keys end that somebody is let in by for long: one look at their ledger
 * serves all, and there is none while nobody wants to know.
 */
export class KeyWatch {
  readonly #ports: KeyWatchPorts;
  readonly #watchers = new Set<Watcher>();
  #following: AbortController | undefined;

  constructor(ports: KeyWatchPorts) {
    this.#ports = ports;
  }

  /**
   * @param endsAt epoch milliseconds at which the key ends by itself; an earlier end of its secret
   * is looked up
   * @returns function that ends the watch
   */
  watch({ id, secretHash }: WatchedSecret, endsAt: number, onEnd: () => void): () => void {
    const watcher: Watcher = { id, secretHash, onEnd, endsAt, stopTimer: () => undefined };
    this.#watchers.add(watcher);
    this.#setTimer(watcher);
    if (this.#following === undefined) this.#begin();
    else void this.#look().catch((error: unknown) => this.#fail(error));
    return () => this.#remove(watcher);
  }

  #begin(): void {
    const following = new AbortController();
    this.#following = following;
    void this.#follow(following.signal).catch((error: unknown) => {
      if (!following.signal.aborted) this.#fail(error);
    });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { ring } = this.#ports;
    const seq = await this.#look();
    for await (const _event of ring.follow(seq, signal)) await this.#look();
  }

  /** @returns the number of the event that the keys are as of */
  async #look(): Promise<number> {
    const { ring, clock } = this.#ports;
    const { records, seq } = await ring.look();
    const now = clock.now();
    for (const watcher of [...this.#watchers]) {
      const record = records.get(watcher.id);
      const endsAt = record === undefined ? 0 : endOfSecret(record, watcher.secretHash);
      if (endsAt <= now) this.#end(watcher);
      else if (endsAt !== watcher.endsAt) {
        // The key was rotated: the secret ends with its grace, or has the new term.
        watcher.endsAt = endsAt;
        this.#setTimer(watcher);
      }
    }
    return seq;
  }

  #setTimer(watcher: Watcher): void {
    const { clock } = this.#ports;
    watcher.stopTimer();
    watcher.stopTimer = clock.setTimer(Math.max(0, watcher.endsAt - clock.now()), () => {
      // A rotation that has not been heard of yet may have given it a longer term. Where nobody can
      // say so, it has ended.
      void this.#look().catch(() => this.#end(watcher));
    });
  }

  #end(watcher: Watcher): void {
    if (this.#remove(watcher)) watcher.onEnd();
  }

  #remove(watcher: Watcher): boolean {
    watcher.stopTimer();
    const wasThere = this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) {
      this.#following?.abort();
      this.#following = undefined;
    }
    return wasThere;
  }

  #fail(error: unknown): void {
    if (this.#watchers.size === 0) return;
    if (!this.#ports.closing.aborted) this.#ports.onError(error);
    for (const watcher of [...this.#watchers]) this.#end(watcher);
  }
}
