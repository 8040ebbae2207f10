import type { Runtime } from 'adjutant';
import type { Clock, IdSource } from 'adjutant/ports';
import {
  endOfSecret,
  foldKeyEvent,
  type KeyRecord,
  type KeyRecords,
  type OpenedKey,
  openedKey,
} from './api-key.ts';
import { type DecisionDraft, SystemLedger, systemTenant } from './system-ledger.ts';

/** Function that decides a change of keys from the current records. */
export type KeyChange = (records: KeyRecords) => readonly DecisionDraft[];

/**
 * The API keys of an app, folded from their ledger. Whether the ledger has grown is asked before
 * anything is trusted: what one process revokes, no other accepts any more. While the store cannot
 * say so, nobody is let in.
 */
export class KeyRing {
  readonly #ledger: SystemLedger;
  readonly #clock: Clock;
  #records = new Map<string, KeyRecord>();
  #seq = 0;
  #looking: Promise<void> | undefined;
  #nextLook: Promise<void> | undefined;

  constructor(
    app: Pick<Runtime, 'app' | 'store'>,
    { clock, ids }: { readonly clock: Clock; readonly ids: IdSource },
  ) {
    this.#clock = clock;
    const place = {
      tenant: systemTenant,
      app: `${app.app}:keys`,
      session: 'api-keys',
      title: 'API keys',
    };
    this.#ledger = new SystemLedger({ store: app.store, ...place, clock, ids });
  }

  /**
   * The key that a credential opens; `undefined` when it opens none, for whatever reason. @throws
   * StoreUnavailableError
   */
  async open(credential: string): Promise<OpenedKey | undefined> {
    return openedKey(await this.records(), credential, this.#clock.now());
  }

  /**
   * The key that a secret opens which was checked before, by its hash; `undefined` when the secret
   * has ended.
   * @throws StoreUnavailableError
   */
  async openBySecret({
    id,
    secretHash,
  }: {
    readonly id: string;
    readonly secretHash: string;
  }): Promise<OpenedKey | undefined> {
    const record = (await this.records()).get(id);
    if (record === undefined || this.#clock.now() >= endOfSecret(record, secretHash))
      return undefined;
    return { key: record.key, hash: secretHash };
  }

  /** All keys that there ever were, as they are now. @throws StoreUnavailableError */
  async records(): Promise<KeyRecords> {
    return (await this.look()).records;
  }

  /**
   * Changes keys, by what they are at that moment. @throws what `change` throws, SessionBusyError,
   * StoreUnavailableError
   */
  async change(change: KeyChange): Promise<KeyRecords> {
    await this.#ledger.write(async () => change(await this.records()));
    return this.records();
  }

  /** All keys, and the number of the event that they are as of. @throws StoreUnavailableError */
  async look(): Promise<{ readonly records: KeyRecords; readonly seq: number }> {
    await this.#look();
    return { records: this.#records, seq: this.#seq };
  }

  /**
   * Yields changes of keys as they land, from any writer, until `signal` aborts. There must be a
   * key.
   */
  follow(after: number, signal: AbortSignal): AsyncIterable<unknown> {
    return this.#ledger.follow(after, signal);
  }

  /**
   * Waits for a look that begins after this call: one that is under way may have missed what came
   * between. All who wait share it.
   */
  #look(): Promise<void> {
    this.#nextLook ??= this.#lookAfter(this.#looking);
    return this.#nextLook;
  }

  async #lookAfter(running: Promise<void> | undefined): Promise<void> {
    await (running ?? Promise.resolve()).catch(() => undefined);
    this.#nextLook = undefined;
    this.#looking = this.#refresh();
    return this.#looking;
  }

  async #refresh(): Promise<void> {
    const seq = await this.#ledger.seq();
    if (seq === this.#seq) return;
    // A shorter ledger is another one: the store was put back to an older state.
    const isOther = seq < this.#seq;
    const records = isOther ? new Map<string, KeyRecord>() : new Map(this.#records);
    let last = isOther ? 0 : this.#seq;
    if (seq > 0) {
      for await (const event of this.#ledger.read(last)) {
        foldKeyEvent(records, event);
        last = event.seq;
      }
    }
    this.#records = records;
    this.#seq = last;
  }
}
