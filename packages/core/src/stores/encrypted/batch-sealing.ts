import { defined } from '../../base/defined.ts';
import { LedgerConflictError } from '../../ledger/errors.ts';
import type { Batch, Head, SessionSummary } from '../../ledger/port.ts';
import { EventSeals } from './event-seals.ts';
import type { SessionKeys } from './keys/session-keys.ts';
import { appSealsOf, type LedgerParts, orderNameOf } from './ledger-parts.ts';
import { RowSeals } from './row-seals.ts';
import { SessionSeals } from './seals.ts';

/** A batch as it goes to the inner store. */
export interface SealedBatch {
  readonly sealed: Batch;
  /** The keys that it was sealed with, if it was. */
  readonly keys: SessionKeys | undefined;
}

/** Seals the batches of one tenant and app. */
export class BatchSealing {
  readonly #parts: LedgerParts;
  readonly #events: EventSeals;
  readonly #seals: SessionSeals;
  readonly #rows: RowSeals;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.#events = new EventSeals(parts.scope);
    this.#seals = new SessionSeals(parts.scope);
    this.#rows = new RowSeals(parts.scope);
  }

  /**
   * Seals a batch, once the blobs that it refers to were sent.
   * @param names receives the addresses of blobs, by the names under which they are kept
   */
  async seal(
    session: string,
    expected: Head,
    batch: Batch,
    names: Map<string, string>,
  ): Promise<SealedBatch> {
    const { events, summary, requests, shared, blobs, sends, rows, ...rest } = batch;
    const needsApp = isFilled(shared) || isFilled(blobs) || isFilled(sends);
    const app = needsApp ? await appSealsOf(this.#parts) : undefined;
    if (app !== undefined)
      for (const address of blobs ?? []) names.set(app.blobName(address), address);
    // Blobs that are on their way must be sent first.
    await Promise.all(
      [...names.values()].map((address) =>
        this.#parts.order.sent(orderNameOf(this.#parts, address)),
      ),
    );
    const sealed = {
      ...rest,
      ...defined({
        shared: shared?.map((write) => app?.sealShared(write) ?? write),
        blobs: blobs && [...names.keys()],
        sends: sends?.map((send) => app?.sealSend(session, send) ?? send),
      }),
    };
    if (events.length === 0 && !isFilled(requests) && !isFilled(rows) && summary === undefined)
      return { sealed: { ...sealed, events }, keys: undefined };
    const keys = await this.#parts.ring.forWriting(session);
    if (keys === undefined) throw conflict(session, expected);
    const entry = this.#sealedSummary(keys, expected, batch);
    const whole: Batch = {
      ...sealed,
      events: events.map((event) => this.#events.seal(keys, session, event)),
      ...defined({
        summary: entry,
        requests: requests?.map((request) => this.#seals.sealRequest(keys, request)),
        rows: rows?.map((row) => this.#rows.seal(keys, row)),
      }),
    };
    return { sealed: whole, keys };
  }

  /**
   * Returns the sealed entry of the session list. The first events always bring one, so that a
   * missing entry is known to have been removed.
   */
  #sealedSummary(
    keys: SessionKeys,
    { seq }: Head,
    { summary, events }: Batch,
  ): SessionSummary | undefined {
    const isFirst = keys.sealsEntry && seq === 0 && events.length > 0;
    const given = summary ?? (isFirst ? ({ status: 'active' } as const) : undefined);
    return (
      given && {
        ...given,
        title: this.#seals.sealEntry(keys, { ...given, seq: seq + events.length }),
      }
    );
  }
}

function isFilled(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

/** Returns the conflict that a store reports for a session that does not exist. */
function conflict(session: string, { seq, epoch }: Head): LedgerConflictError {
  return new LedgerConflictError({
    session,
    expected: { seq, epoch },
    found: { seq: 0, epoch: 0 },
  });
}
