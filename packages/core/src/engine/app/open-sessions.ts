import type { Host, ObjectReference } from '../../base/host.ts';
import { SessionDeletedError } from '../../ledger/errors.ts';
import type { LedgerStore } from '../../ledger/port.ts';
import type { Session } from '../../session/session.ts';

/** Open sessions of an app, found by id as long as they are referenced. */
export class OpenSessions {
  readonly #opening = new Map<string, Promise<void>>();
  readonly #byId = new Map<string, ObjectReference<Session>>();
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /**
   * Calls `open` after all earlier calls for this session have ended. Two ledgers of one session
   * would not know of each other.
   */
  inTurn<Opened>(id: string, open: () => Promise<Opened>): Promise<Opened> {
    const opening = (this.#opening.get(id) ?? Promise.resolve()).then(open);
    const done = opening.then(
      () => undefined,
      () => undefined,
    );
    this.#opening.set(id, done);
    void done.then(() => {
      if (this.#opening.get(id) === done) this.#opening.delete(id);
    });
    return opening;
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id)?.deref();
  }

  add(id: string, session: Session): void {
    const onCollected = (): void => {
      if (this.get(id) === undefined) this.#byId.delete(id);
    };
    this.#byId.set(id, this.#host.reference(session, onCollected));
  }

  all(): readonly Session[] {
    return [...this.#byId.values()].flatMap((reference) => reference.deref() ?? []);
  }

  /** Makes deleted sessions unwritable and stops the runs on them. */
  async forgetDeleted(store: LedgerStore): Promise<void> {
    for (const [id, reference] of [...this.#byId]) {
      const ledger = reference.deref()?.ledger;
      // A session that was never stored cannot have been deleted.
      const isStored =
        ledger !== undefined && (ledger.durableSeq > 0 || ledger.lease.claim !== undefined);
      if (!isStored || (await store.head(id)) !== undefined) continue;
      ledger.fail(new SessionDeletedError({ session: id }));
      if (this.#byId.get(id) === reference) this.#byId.delete(id);
    }
  }
}
