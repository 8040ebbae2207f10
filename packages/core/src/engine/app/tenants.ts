import type { Clock } from '../../base/clock.ts';
import { describeValue, isNonEmptyText } from '../../base/options.ts';
import type { DueSession, LedgerStore, Store } from '../../ledger/port.ts';
import { InvalidRuntimeError } from '../frame/errors.ts';

/** How long a runtime that nobody has asked for and that does nothing is kept. */
const keepMs = 300_000;

interface Kept<Made> {
  readonly made: Made;
  askedAt: number;
}

/**
 * One object for each tenant of an app: made on first use, and the same for as long as somebody has
 * it or it has something under way.
 */
export class Tenants<Made extends object> {
  readonly #clock: Clock;
  readonly #isBusy: (made: Made) => boolean;
  /** The one that was asked for longest ago comes first. */
  readonly #kept = new Map<string, Kept<Made>>();
  readonly #dropped = new Map<string, WeakRef<Made>>();
  readonly #closed = new Set<string>();
  readonly #collected = new FinalizationRegistry<string>((tenant) => {
    if (this.#dropped.get(tenant)?.deref() === undefined) this.#dropped.delete(tenant);
  });

  constructor(clock: Clock, isBusy: (made: Made) => boolean) {
    this.#clock = clock;
    this.#isBusy = isBusy;
  }

  get(tenant: string, make: () => Made): Made {
    this.#closed.delete(tenant);
    const made = this.find(tenant) ?? make();
    this.#kept.delete(tenant);
    this.#kept.set(tenant, { made, askedAt: this.#clock.monotonic() });
    this.#dropped.delete(tenant);
    this.forgetIdle();
    return made;
  }

  /** The one of a tenant, if there is one. It is not kept any longer for that. */
  find(tenant: string): Made | undefined {
    return this.#kept.get(tenant)?.made ?? this.#dropped.get(tenant)?.deref();
  }

  all(): readonly Made[] {
    return [
      ...[...this.#kept.values()].map(({ made }) => made),
      ...[...this.#dropped.values()].flatMap((reference) => reference.deref() ?? []),
    ];
  }

  /** Until it is asked for again, nothing is to be begun for a tenant. */
  close(tenant: string): void {
    this.#closed.add(tenant);
  }

  isClosed(tenant: string): boolean {
    return this.#closed.has(tenant);
  }

  /** Keeps nothing any more of those that nobody has asked for lately and that do nothing. */
  forgetIdle(): void {
    const now = this.#clock.monotonic();
    // What is put at the end meanwhile has been asked for just now.
    for (const [tenant, kept] of this.#kept) {
      if (now - kept.askedAt < keepMs) return;
      this.#kept.delete(tenant);
      if (this.#isBusy(kept.made)) {
        this.#kept.set(tenant, { made: kept.made, askedAt: now });
      } else {
        this.#dropped.set(tenant, new WeakRef(kept.made));
        this.#collected.register(kept.made, tenant);
      }
    }
  }
}

/** What is due of one tenant of an app, or of all. */
export async function dueSessions(
  store: Store,
  {
    app,
    tenant,
    limit,
  }: { readonly app: string; readonly tenant: string | undefined; readonly limit: number },
): Promise<readonly DueSession[]> {
  if (tenant !== undefined) return store.for({ tenant, app }).due({ limit });
  return (await store.admin.due({ limit, app })).filter((due) => due.app === app);
}

/** @throws InvalidRuntimeError when a tenant has no name */
export function checkTenant(tenant: unknown): void {
  const expected = isNonEmptyText(tenant);
  const refused = 'The runtime of a tenant cannot be made';
  if (expected !== undefined)
    throw new InvalidRuntimeError({
      refused,
      reason: `the name must be ${expected}, not ${describeValue(tenant)}`,
    });
}

/**
 * Gives the ledgers of tenants by name; an app for one tenant has none but its own. @throws
 * InvalidRuntimeError by what it gives
 */
export function reachableLedgers(
  store: Store,
  { app, tenant }: { readonly app: string; readonly tenant: string },
  isForOne: boolean,
) {
  return (other: string = tenant): LedgerStore => {
    if (!isForOne || other === tenant) return store.for({ tenant: other, app });
    throw new InvalidRuntimeError({
      refused: `Requests of the tenant "${other}" cannot be reached`,
      reason: `this is the app for "${tenant}" only`,
    });
  };
}
