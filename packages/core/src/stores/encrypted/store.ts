import { defined } from '../../base/defined.ts';
import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import {
  isCount,
  isNonEmptyText,
  isObject,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import type { LedgerStore, Store, StoreAdmin } from '../../ledger/port.ts';
import {
  type EncryptionReport,
  type ExistingOptions,
  encryptExisting,
} from './existing/encrypt-existing.ts';
import type { KeyedScope } from './existing/existing-keys.ts';
import { DataKeys } from './keys/data-keys.ts';
import { KeyCache } from './keys/key-cache.ts';
import type { KeyProvider } from './keys/key-provider.ts';
import { KeyRecords } from './keys/key-records.ts';
import { KeyRing, type KeyRingParts } from './keys/key-ring.ts';
import type { LedgerParts } from './ledger-parts.ts';
import { EncryptedLedgerStore } from './ledger-store.ts';
import { replaceSealed } from './replacement.ts';
import { type RotationReport, rotateKeys } from './rotation.ts';
import { openSendsOfApp } from './send-list.ts';
import { SendingOrder } from './sending-order.ts';
import { UnderWay } from './under-way.ts';

export interface EncryptedOptions {
  /** Wraps and unwraps the data keys: `localKeys`, or a provider for a key management service. */
  readonly keys: KeyProvider;
  /**
   * Holds the wrapped keys, in apps with the name of the app and `#keys` behind it. To erase
   * sessions from backups too, keep it apart and its backups for a short time. Closed with the
   * store.
   * @default the store itself
   */
  readonly keyStore?: Store;
  /**
   * Number of sessions whose unwrapped keys are kept in memory. Those that were used last stay.
   * @default 1000
   */
  readonly cachedSessions?: number;
}

/** A store whose contents are sealed. */
export interface EncryptedStore extends Store {
  /**
   * Wraps all keys of a tenant and app with the tenant's current key, while sessions run.
   * Afterwards, when every process knows the current key, older keys are not needed any more.
   * Events stay unchanged. May be interrupted and repeated. Also destroys keys that an interrupted
   * erasure has left.
   * @throws KeyUnavailableError when the provider lacks a key that is needed; the work done before
   * counts
   */
  rotate(scope: { readonly tenant: string; readonly app: string }): Promise<RotationReport>;
  /**
   * Seals all content that the store has from a time without encryption, in a SQLite file or in
   * PostgreSQL, and writes the database anew. May be stopped at any moment and repeated. No other
   * process may use the store meanwhile. Content is taken as it is: run it only where nobody else
   * could write.
   * @throws StoreUnavailableError, SessionBusyError while another process uses the store
   * @throws LedgerUnreadableError at an event that cannot be read; nothing is changed then
   * @throws KeyUnavailableError when a tenant has no key; nothing is changed then
   */
  encryptExisting(options?: ExistingOptions): Promise<EncryptionReport>;
}

const keysSuffix = '#keys';

const isStore: OptionCheck = (value) =>
  isObject(value) === undefined && typeof (value as { for?: unknown }).for === 'function'
    ? undefined
    : 'a store';
const isProvider: OptionCheck = (value) => {
  const methods = isObject(value) === undefined ? (value as Readonly<Record<string, unknown>>) : {};
  const fits = ['currentKey', 'wrap', 'unwrap'].every(
    (name) => typeof methods[name] === 'function',
  );
  return fits
    ? undefined
    : 'a key provider with the methods `currentKey`, `wrap` and `unwrap`, such as ' +
        '`localKeys({ keys })`';
};
const optionChecks: OptionChecks<EncryptedOptions> = {
  keys: isProvider,
  keyStore: isStore,
  cachedSessions: isCount,
};

const existingChecks: OptionChecks<ExistingOptions> = { app: isNonEmptyText };

/**
 * A store that seals the content of people and models with AES-256-GCM before it goes into another
 * store. It opens the content when it is read. Data that the other store needs to find, order and
 * wake sessions stays readable: see the guide. The other store must be empty, have been used in
 * this way before, or go through `encryptExisting`: events that are not sealed are refused.
 * @throws InvalidOptionError
 */
export function encrypted(store: Store, options: EncryptedOptions): EncryptedStore {
  const wrong = isStore(store);
  if (wrong !== undefined)
    throw new InvalidOptionError({
      function: 'encrypted',
      reason: `the first argument must be ${wrong}`,
    });
  // A missing option is `null` to the check, which passes over `undefined`.
  checkOptions(
    'encrypted',
    { ...options, keys: options?.keys ?? null } as EncryptedOptions,
    optionChecks,
  );
  return new EncryptedStoreAround(store, options);
}

interface Scope {
  readonly tenant: string;
  readonly app: string;
}

class EncryptedStoreAround implements EncryptedStore {
  readonly description: string;
  readonly kind?: string;
  readonly isEncrypted = true;
  readonly admin: StoreAdmin;
  readonly #store: Store;
  readonly #keyStore: Store;
  readonly #keys: KeyProvider;
  readonly #cache: KeyCache;
  readonly #order = new SendingOrder();
  readonly #underWay = new UnderWay();

  constructor(store: Store, { keys, keyStore = store, cachedSessions = 1_000 }: EncryptedOptions) {
    this.description = store.description;
    if (store.kind !== undefined) this.kind = store.kind;
    this.admin = this.#adminOver(store.admin);
    this.#store = store;
    this.#keyStore = keyStore;
    this.#keys = keys;
    this.#cache = new KeyCache(cachedSessions);
  }

  for({ tenant, app }: Scope): LedgerStore {
    const scope = { tenant, app };
    if (app.endsWith(keysSuffix)) {
      throw new InvalidOptionError({
        function: 'encrypted',
        reason: `no app may have a name that ends with "${keysSuffix}", as "${app}" does`,
      });
    }
    return new EncryptedLedgerStore(this.#partsOf(scope));
  }

  #partsOf(scope: Scope): LedgerParts {
    const { ledgers, ring } = this.#keysOf(scope);
    return { scope, inner: ledgers, ring, order: this.#order, underWay: this.#underWay };
  }

  #adminOver(inner: StoreAdmin): StoreAdmin {
    return {
      ...defined({ pressure: inner.pressure, partition: inner.partition }),
      due: (options) => inner.due(options),
      take: (options) => inner.take(options),
      sends: async (filter) =>
        openSendsOfApp(await inner.sends(filter), (tenant) =>
          this.#partsOf({ tenant, app: filter.app }),
        ),
      replaceRows: ({ session, ...scope }, expected, rows) =>
        this.#underWay.during(() =>
          replaceSealed(inner, this.#partsOf(scope), session, { expected, rows }),
        ),
      sweepBlobs: (options) => inner.sweepBlobs(options),
    };
  }

  rotate({ tenant, app }: Scope): Promise<RotationReport> {
    return this.#underWay.during(() => rotateKeys(this.#keysOf({ tenant, app })));
  }

  encryptExisting(options: ExistingOptions = {}): Promise<EncryptionReport> {
    checkOptions('encryptExisting', options, existingChecks);
    return this.#underWay.during(async () => {
      const keysOf = (scope: Scope): KeyedScope => this.#keysOf(scope);
      try {
        return await encryptExisting({ store: this.#store, keysOf, keysSuffix }, options);
      } finally {
        this.#cache.clear();
      }
    });
  }

  async close(): Promise<void> {
    await this.#underWay.ended();
    this.#cache.clear();
    await this.#store.close();
    if (this.#keyStore !== this.#store) await this.#keyStore.close();
  }

  #keysOf(scope: Scope): KeyRingParts & { readonly ring: KeyRing } {
    const records = new KeyRecords(
      this.#keyStore.for({ tenant: scope.tenant, app: `${scope.app}${keysSuffix}` }),
    );
    const parts = {
      scope,
      ledgers: this.#store.for(scope),
      records,
      dataKeys: new DataKeys(scope.tenant, this.#keys),
      cache: this.#cache,
    };
    return { ...parts, ring: new KeyRing(parts) };
  }
}
