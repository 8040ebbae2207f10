import type { Input } from '../editor/keys.ts';
import type { Composer } from './composer.ts';

/** Keys that come before the app is loaded: those from the first sent message on are kept. */
export class LoadingInputs {
  readonly #composer: Composer;
  #kept: Input[] = [];

  constructor(composer: Composer) {
    this.#composer = composer;
  }

  /** Takes a key. Returns true when it was the one that sends a message. */
  take(input: Input, width: number): boolean {
    if (this.#kept.length > 0) {
      this.#kept.push(input);
      return false;
    }
    if (this.#composer.take(input, width).kind !== 'send' || this.#composer.isEmpty) return false;
    this.#kept.push(input);
    return true;
  }

  /** Gives back what was kept, because the app is loaded. */
  release(): readonly Input[] {
    const kept = this.#kept;
    this.#kept = [];
    return kept;
  }
}
