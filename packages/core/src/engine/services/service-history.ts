import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import { withBlobs } from '../../ledger/blobs/load-blobs.ts';
import type { Event } from '../../ledger/event.ts';
import { numberedSession, sessionNumber } from '../../ledger/port/service-sessions.ts';
import type { LedgerStore } from '../../ledger/port.ts';
import type { ServiceHost } from './service.ts';

interface ServiceHistoryParts {
  readonly host: Host;
  readonly store: LedgerStore;
  readonly kind: string;
  readonly name: string;
  /** The newest session; `undefined` when there is none. */
  readonly newest: string | undefined;
}

/** Events of a service, read from all sessions that it has had. */
export class ServiceHistory {
  readonly #parts: ServiceHistoryParts;
  /** Number of the newest session; 0 when there is none. */
  readonly newest: number;

  constructor(parts: ServiceHistoryParts) {
    this.#parts = parts;
    this.newest = parts.newest === undefined ? 0 : sessionNumber(parts.newest);
  }

  static async of(
    host: ServiceHost,
    tenant: string,
    { kind, name }: Pick<ServiceHistoryParts, 'kind' | 'name'>,
  ): Promise<ServiceHistory> {
    const newest = await host.newest(tenant, kind, name);
    const store = host.ledgers(tenant);
    return new ServiceHistory({ host: host.host, store, kind, name, newest });
  }

  /** Events of the session with a number, with large values in them; none when it was deleted. */
  async *events(number: number): AsyncGenerator<Event, void> {
    const { kind, name, store } = this.#parts;
    try {
      const session = numberedSession(kind, name, number);
      for await (const page of store.read(session))
        for (const event of page) yield await withBlobs(event, this.#parts, session);
    } catch (error) {
      if (!isAdjutantError(error, 'session_not_found')) throw error;
    }
  }

  /** The last entries that events give, the last first. */
  async last<Entry>(
    limit: number,
    entriesOf: (event: Event) => readonly Entry[],
  ): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for (let number = this.newest; number > 0 && found.length < limit; number--) {
      const entries: Entry[] = [];
      for await (const event of this.events(number)) {
        entries.push(...entriesOf(event));
        if (entries.length > limit - found.length) entries.shift();
      }
      found.push(...entries.reverse());
    }
    return found;
  }
}
