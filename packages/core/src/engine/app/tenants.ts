import type { Clock } from '../../base/clock.ts';
import type { Host, ObjectReference } from '../../base/host.ts';
import { describeValue, isNonEmptyText } from '../../base/options.ts';
import type { LedgerStore, Store } from '../../ledger/port.ts';
import { InvalidRuntimeError } from '../frame/errors.ts';

/** Time in milliseconds for which an idle runtime without requests is kept. */
const keepMs = 300_000;

interface Kept<Made> {
  readonly made: Made;
  askedAt: number;
}

/**
 * Objects of the tenants of an app, one for each, made on first use. An object stays the same while
 * it is referenced or busy.
 */
export class Tenants<Made extends object> {
  readonly #clock: Clock;
  readonly #host: Host;
  readonly #isBusy: (made: Made) => boolean;
  /** Kept objects; the one that was requested longest ago comes first. */
  readonly #kept = new Map<string, Kept<Made>>();
  readonly #dropped = new Map<string, ObjectReference<Made>>();
  readonly #closed = new Set<string>();

  constructor(clock: Clock, host: Host, isBusy: (made: Made) => boolean) {
    this.#clock = clock;
    this.#host = host;
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

  /** Returns the object of a tenant, if there is one. This does not prolong its time. */
  find(tenant: string): Made | undefined {
    return this.#kept.get(tenant)?.made ?? this.#dropped.get(tenant)?.deref();
  }

  all(): readonly Made[] {
    return [
      ...[...this.#kept.values()].map(({ made }) => made),
      ...[...this.#dropped.values()].flatMap((reference) => reference.deref() ?? []),
    ];
  }

  /** Closes a tenant: no run of it begins until it is requested again. */
  close(tenant: string): void {
    this.#closed.add(tenant);
  }

  isClosed(tenant: string): boolean {
    return this.#closed.has(tenant);
  }

  /** Drops the objects that are idle and were not requested lately. */
  forgetIdle(): void {
    const now = this.#clock.monotonic();
    // An object that is put at the end meanwhile has a new request time.
    for (const [tenant, kept] of this.#kept) {
      if (now - kept.askedAt < keepMs) return;
      this.#kept.delete(tenant);
      if (this.#isBusy(kept.made)) {
        this.#kept.set(tenant, { made: kept.made, askedAt: now });
      } else {
        this.#drop(tenant, kept.made);
      }
    }
  }

  #drop(tenant: string, made: Made): void {
    const onCollected = (): void => {
      if (this.#dropped.get(tenant)?.deref() === undefined) this.#dropped.delete(tenant);
    };
    this.#dropped.set(tenant, this.#host.reference(made, onCollected));
  }
}

/**
 * Checks the name of a tenant.
 * @throws InvalidRuntimeError when a tenant has no name
 */
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
 * Returns a function that finds the ledgers of a tenant by name. An app for one tenant finds only
 * its own.
 * @throws InvalidRuntimeError when the returned function is called for an unreachable tenant
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
