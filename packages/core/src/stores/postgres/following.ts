import { isAdjutantError } from '../../base/error.ts';
import { contentHash } from '../../base/hash.ts';
import type { StoreUnavailableError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import { Followers } from '../followers.ts';
import { Listener, type ListenerSettings } from './listener.ts';
import type { Notifier } from './notifier.ts';

interface SessionAddress {
  readonly tenant: string;
  readonly app: string;
  readonly session: string;
}

/** The followers of ledgers that this and other processes write to. */
export class Following {
  readonly #followers: Followers;
  readonly #listener: Listener;
  readonly #notifier: Notifier;
  readonly #refusal: StoreUnavailableError | undefined;

  /** @param refusal the reason when following is impossible */
  constructor(
    settings: ListenerSettings,
    notifier: Notifier,
    refusal: StoreUnavailableError | undefined,
  ) {
    this.#followers = new Followers((count) => this.#listener.listen(count > 0));
    this.#listener = new Listener(settings, (names) => {
      if (names === undefined) this.#followers.wakeAll();
      else for (const name of names) this.#followers.wake(name);
    });
    this.#notifier = notifier;
    this.#refusal = refusal;
  }

  /**
   * Wakes followers after a ledger was written to or deleted.
   * @param isHeard true when other stores may be listening
   */
  changed(address: SessionAddress, isHeard: boolean): void {
    const name = nameOf(address);
    this.#followers.wake(name);
    if (isHeard) this.#notifier.changed(name);
  }

  /** Wakes all followers after a deletion of ledgers that are not all known. */
  anythingChanged(): void {
    this.#followers.wakeAll();
    this.#notifier.anythingChanged();
  }

  async *follow(
    address: SessionAddress,
    afterSeq: number,
    signal: AbortSignal,
    read: (afterSeq: number) => AsyncIterable<readonly Event[]>,
  ): AsyncGenerator<Event, void, undefined> {
    if (this.#refusal !== undefined) throw this.#refusal;
    yield* this.#followers.follow(nameOf(address), afterSeq, signal, patient(read));
  }

  /** @param written the end of the writes under way, of which others are still told */
  async close(error: StoreUnavailableError, written: Promise<void>): Promise<void> {
    this.#followers.fail(error);
    await this.#listener.close();
    await written;
    await this.#notifier.close();
  }
}

/**
 * Returns a short name of a session that reveals nothing of it: everybody who may connect to the
 * database sees notifications.
 */
function nameOf({ tenant, app, session }: SessionAddress): string {
  return contentHash([tenant, app, session]);
}

/** Reads again after a failure of the database that may pass, once reading has worked before. */
function patient(
  read: (afterSeq: number) => AsyncIterable<readonly Event[]>,
): (afterSeq: number) => AsyncIterable<readonly Event[]> {
  let hasRead = false;
  return async function* (afterSeq) {
    try {
      for await (const page of read(afterSeq)) {
        hasRead = true;
        yield page;
      }
      hasRead = true;
    } catch (error) {
      const passes =
        isAdjutantError(error, 'store_unavailable') && error.data['permanent'] !== true;
      if (!hasRead || !passes) throw error;
    }
  };
}
