import type { Clock } from 'adjutant';
import { isKeyValid } from './api-key.ts';
import type { KeyRing } from './key-ring.ts';

interface Watcher {
  readonly key: string;
  /** Called once, when the key is not accepted any more. */
  readonly onEnd: () => void;
  readonly stopTimer: () => void;
}

export interface KeyWatchPorts {
  readonly ring: KeyRing;
  readonly clock: Clock;
  /** Told why keys cannot be watched. Whoever watched one then is told that it has ended. */
  readonly onError: (error: unknown) => void;
  /** Aborted when the server closes: that the store may be gone then is no error. */
  readonly closing: AbortSignal;
}

/** Says when keys end that somebody is let in by for long: one look at their ledger serves all, and there is none while nobody wants to know. */
export class KeyWatch {
  readonly #ports: KeyWatchPorts;
  readonly #watchers = new Set<Watcher>();
  #following: AbortController | undefined;

  constructor(ports: KeyWatchPorts) {
    this.#ports = ports;
  }

  /**
   * @param expiresAt epoch milliseconds at which the key ends by itself
   * @returns what ends the watch
   */
  watch(key: string, expiresAt: number, onEnd: () => void): () => void {
    const { clock } = this.#ports;
    const stopTimer = clock.setTimer(Math.max(0, expiresAt - clock.now()), () => this.#end(watcher));
    const watcher: Watcher = { key, onEnd, stopTimer };
    this.#watchers.add(watcher);
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
      const key = records.get(watcher.key)?.key;
      if (key === undefined || !isKeyValid(key, now)) this.#end(watcher);
    }
    return seq;
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
