import type { Event } from '../../../ledger/event.ts';
import { assertKey } from './body-keys.ts';
import type { BodyOwner } from './body-place.ts';

/**
 * Refreshes of the shared scopes by one body. The values are recorded, and a body that runs again
 * sees the same.
 */
export class StateRefresh {
  readonly #body: BodyOwner;
  /** Number of refreshes by name. */
  readonly #counts = new Map<string, number>();

  constructor(body: BodyOwner) {
    this.#body = body;
  }

  /** @throws InvalidKeyError, InvocationEndedError */
  async refresh(key: string | undefined): Promise<void> {
    this.#body.assertOpen('state.refresh');
    const { place, writes } = this.#body;
    const { run, path, base } = place;
    const refresh = this.#nameOf(key);
    const isThis = (event: Event): boolean =>
      event.type === 'state_change' && event.refresh === refresh;
    const recorded =
      base === undefined
        ? undefined
        : run.ledger.invocations.byPath.get(path)?.events.findLast(isThis);
    if (recorded === undefined)
      await run.session.observeShared({ seenBy: { invocationId: path, refresh } });
    writes.refreshed((recorded ?? run.ledger.events.findLast(isThis))?.seq ?? run.ledger.lastSeq);
  }

  #nameOf(key: string | undefined): string {
    const { childRoot } = this.#body.place;
    if (key !== undefined) assertKey(key);
    const name = key === undefined ? childRoot : `${childRoot}#${key}`;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return `${name}#${count}`;
  }
}
