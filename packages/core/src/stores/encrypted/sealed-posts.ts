import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import { SessionGoneError } from '../../ledger/errors.ts';
import type { InboxItem, PostOptions, PostReceipt } from '../../ledger/port.ts';
import type { OpeningKeys } from './keys/key-ring.ts';
import type { SessionKeys } from './keys/session-keys.ts';
import { type LedgerParts, sessionNotFound } from './ledger-parts.ts';
import { RowSeals } from './row-seals.ts';
import { SessionSeals } from './seals.ts';

/** Posts to the sessions of one tenant and app, sealed. */
export class SealedPosts {
  readonly #parts: LedgerParts;
  readonly #seals: SessionSeals;
  readonly #rows: RowSeals;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.#seals = new SessionSeals(parts.scope);
    this.#rows = new RowSeals(parts.scope);
  }

  async post(session: string, item: InboxItem, options: PostOptions): Promise<PostReceipt> {
    const { ring } = this.#parts;
    const keys = await ring.forWritingAnew(session);
    if (keys !== undefined) return this.#send(session, item, options, keys);
    const { birth, open = false } = options;
    if (birth !== undefined) throw new SessionGoneError({ session, birth });
    if (!open) throw sessionNotFound(this.#parts, session);
    const opening = await ring.forOpening(session);
    const receipt = await this.#open(session, item, options, opening);
    if (receipt.joined === undefined) await ring.keepOpened(session, opening);
    else await ring.dropOpening(session, opening);
    return receipt;
  }

  async #open(
    session: string,
    item: InboxItem,
    options: PostOptions,
    opening: OpeningKeys,
  ): Promise<PostReceipt> {
    try {
      return await this.#send(session, item, options, opening.keys);
    } catch (error) {
      // A post whose answer is lost may still land, and needs its keys.
      if (isAdjutantError(error) && error.code !== 'store_unavailable')
        await this.#parts.ring.dropOpening(session, opening);
      throw error;
    }
  }

  #send(
    session: string,
    item: InboxItem,
    options: PostOptions,
    keys: SessionKeys,
  ): Promise<PostReceipt> {
    const rows = options.rows?.map((row) => this.#rows.seal(keys, row));
    const sealed = this.#seals.sealItem(keys, item);
    return this.#parts.inner.post(session, sealed, { ...options, ...defined({ rows }) });
  }
}
