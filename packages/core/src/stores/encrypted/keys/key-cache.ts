import type { SessionKeys } from './session-keys.ts';

/** The unwrapped keys of this process, up to a number. Those that were used last stay. */
export class KeyCache {
  readonly #most: number;
  readonly #keys = new Map<string, Promise<SessionKeys | undefined>>();

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): Promise<SessionKeys | undefined> | undefined {
    const keys = this.#keys.get(name);
    if (keys === undefined) return undefined;
    this.#keys.delete(name);
    this.#keys.set(name, keys);
    return keys;
  }

  /** Keeps keys that are being loaded, unless loading fails or finds none. */
  set(name: string, keys: Promise<SessionKeys | undefined>): void {
    this.#keys.delete(name);
    this.#keys.set(name, keys);
    const forget = (): void => {
      if (this.#keys.get(name) === keys) this.#keys.delete(name);
    };
    keys.then((found) => found ?? forget(), forget);
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size <= this.#most) return;
      this.#keys.delete(oldest);
    }
  }

  delete(name: string): void {
    this.#keys.delete(name);
  }

  clear(): void {
    this.#keys.clear();
  }
}
