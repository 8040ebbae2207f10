import { defined } from '../../base/defined.ts';
import type { Event } from '../../ledger/event.ts';
import type { ListOptions, SessionListing } from '../../ledger/port.ts';
import { recordedScopes } from '../../ledger/shared-scopes.ts';
import { SealBrokenError } from './errors.ts';
import type { LedgerParts } from './ledger-parts.ts';
import { isEmpty, type LedgerReading } from './ledger-reading.ts';
import { SessionSeals } from './seals.ts';
import { SessionReader } from './session-reader.ts';

/** Number of first events that declare the scopes of a session: with its making or first run. */
const scopeEvents = 50;

/** The session list of one tenant and app, with its entries opened and checked. */
export class SessionList {
  readonly #parts: LedgerParts;
  readonly #seals: SessionSeals;
  readonly #reading: LedgerReading;

  constructor(parts: LedgerParts, reading: LedgerReading) {
    this.#parts = parts;
    this.#seals = new SessionSeals(parts.scope);
    this.#reading = reading;
  }

  async list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    const listings = await this.#parts.inner.list(options);
    const opened = await Promise.all(listings.map((listing) => this.#openListing(listing)));
    const { user, runnable } = options;
    return opened.filter(
      (listing) =>
        (user === undefined || listing.user === user) &&
        (runnable === undefined || listing.runnable === runnable),
    );
  }

  async #openListing(listing: SessionListing): Promise<SessionListing> {
    if (isEmpty(listing)) return listing;
    const { title: _sealed, user: storedUser, runnable: _stored, ...rest } = listing;
    const reader = new SessionReader(this.#parts.ring, listing.id);
    const entry = await reader.open((keys) => this.#seals.openEntry(keys, listing));
    if (entry?.isOld === true && storedUser !== undefined)
      await this.#assertUser(listing.id, storedUser);
    const { title, user, runnable } = entry ?? { ...listing, title: undefined };
    return { ...rest, ...defined({ title, user, runnable }) };
  }

  /**
   * Checks the user of an entry of an older version against the first events of the session.
   * @throws SealBrokenError when they name another user
   */
  async #assertUser(session: string, user: string): Promise<void> {
    const first: Event[] = [];
    for await (const page of this.#reading.read(session, { upTo: scopeEvents }))
      first.push(...page);
    const said = recordedScopes(first)['user'];
    if (said !== undefined && said !== user)
      throw new SealBrokenError({ what: `The entry of session "${session}" in the list` });
  }
}
