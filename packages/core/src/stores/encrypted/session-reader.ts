import type { KeyRing } from './keys/key-ring.ts';
import type { SessionKeys } from './keys/session-keys.ts';

/**
 * Opens content of one session, all with the same keys. The keys of another session that gets its
 * name do not fit.
 */
export class SessionReader {
  readonly session: string;
  readonly #ring: KeyRing;
  #keys: SessionKeys | undefined;

  constructor(ring: KeyRing, session: string, keys?: SessionKeys) {
    this.session = session;
    this.#ring = ring;
    this.#keys = keys;
  }

  /** Runs `work` with the keys; returns `undefined` when the session has none. */
  async open<Content>(
    work: (keys: SessionKeys) => Content | Promise<Content>,
  ): Promise<Content | undefined> {
    const known = this.#keys ?? (await this.#ring.find(this.session));
    if (known === undefined) return undefined;
    this.#keys = known;
    try {
      return await work(known);
    } catch (error) {
      // The remembered keys may be those of a session that another process has deleted since.
      const found = await this.#ring.findAnew(this.session);
      if (found === undefined || found.own.id === known.own.id) throw error;
      this.#keys = found;
      return await work(found);
    }
  }
}
