import { InvalidOptionError } from '../../../base/invalid-option.ts';
import type { Store } from '../../../ledger/port.ts';
import { type ContentAccess, hasContent, openContent } from '../../content-access.ts';
import type { SessionKeys } from '../keys/session-keys.ts';
import type { SealScope } from '../seals.ts';
import { AppSealing } from './app-sealing.ts';
import { ExistingKeys, type KeyedScope } from './existing-keys.ts';
import { LedgerSealing } from './ledger-sealing.ts';
import { noCounts, type SealedCounts } from './sealed-counts.ts';
import { type StoredLedger, storedLedgers } from './stored-ledgers.ts';

/** Numbers of what was sealed; all are 0 when everything was sealed already. */
export interface EncryptionReport extends Readonly<SealedCounts> {}

export interface ExistingOptions {
  /** The only app whose content is encrypted. @default all apps of the store */
  readonly app?: string;
}

interface Collaborators {
  readonly store: Store;
  readonly keysOf: (scope: SealScope) => KeyedScope;
  /** Suffix of the apps that hold keys. */
  readonly keysSuffix: string;
}

/** Ledgers of one tenant and app, with their keys. */
interface KeyedLedgers {
  readonly scope: SealScope;
  readonly keys: ReadonlyMap<number, SessionKeys>;
  readonly appKeys: SessionKeys;
}

/**
 * Seals all content of a store that was written without encryption. Keys come first, for each
 * session; then all content is sealed in one transaction, which no other process sees half done.
 * Last, the database is written anew. Each part can be repeated.
 */
export async function encryptExisting(
  collaborators: Collaborators,
  options: ExistingOptions,
): Promise<EncryptionReport> {
  const { store } = collaborators;
  if (!hasContent(store))
    throw new InvalidOptionError({
      function: 'encryptExisting',
      reason:
        `${store.description} cannot be encrypted once it has content: only the stores of ` +
        'adjutant/sqlite and adjutant/postgres can',
    });
  // Makes the tables, if there are none yet.
  await store.admin.due({ limit: 1 });
  const content = await store[openContent]();
  try {
    return await encryptContent(content, collaborators, options);
  } finally {
    await content.close();
  }
}

async function encryptContent(
  content: ContentAccess,
  collaborators: Collaborators,
  options: ExistingOptions,
): Promise<EncryptionReport> {
  const read = (): Promise<StoredScopes> => storedScopes(content, collaborators, options);
  for (;;) {
    const keyed: KeyedLedgers[] = [];
    for (const [name, ledgers] of await read())
      keyed.push(await withKeys(scopeOf(name), ledgers, collaborators));
    try {
      await content.begin((app) => isMeant(app, collaborators, options));
      const stored = await read();
      // A session that was made after the keys were made needs keys too.
      if (isComplete(keyed, stored)) {
        const counts = await sealAll(content, keyed, stored);
        await content.commit();
        await content.compact();
        return counts;
      }
    } catch (error) {
      await content.rollback().catch(() => undefined);
      throw error;
    }
    await content.rollback();
  }
}

async function withKeys(
  scope: SealScope,
  ledgers: readonly StoredLedger[],
  { keysOf }: Collaborators,
): Promise<KeyedLedgers> {
  const parts = keysOf(scope);
  const keys = await new ExistingKeys(parts).of(ledgers);
  return { scope, keys, appKeys: await parts.ring.ofApp() };
}

async function sealAll(
  content: ContentAccess,
  keyed: readonly KeyedLedgers[],
  stored: StoredScopes,
): Promise<EncryptionReport> {
  const counts = noCounts();
  for (const { scope, keys, appKeys } of keyed) {
    const sealing = new LedgerSealing(content, scope, counts);
    for (const ledger of stored.get(nameOf(scope)) ?? [])
      await sealing.seal(ledger, keys.get(ledger.id) as SessionKeys);
    await new AppSealing(content, scope, appKeys, counts).seal(keys);
  }
  return counts;
}

/** The ledgers of each tenant and app, by the name of these two. */
type StoredScopes = ReadonlyMap<string, readonly StoredLedger[]>;

async function storedScopes(
  content: ContentAccess,
  collaborators: Collaborators,
  options: ExistingOptions,
): Promise<StoredScopes> {
  const groups = new Map<string, StoredLedger[]>();
  const groupOf = (scope: SealScope): StoredLedger[] | undefined => {
    if (!isMeant(scope.app, collaborators, options)) return undefined;
    const group = groups.get(nameOf(scope)) ?? [];
    groups.set(nameOf(scope), group);
    return group;
  };
  for (const ledger of await storedLedgers(content)) groupOf(ledger)?.push(ledger);
  // Shared state, blobs and messages that wait may outlive all sessions.
  const { fromStored } = content.dialect;
  for (const { tenant, app } of await content.query(
    'select tenant, app from {s}shared union select tenant, app from {s}blobs ' +
      'union select tenant, app from {s}outbox',
  ))
    groupOf({ tenant: fromStored(String(tenant)), app: fromStored(String(app)) });
  return groups;
}

function isMeant(
  app: string,
  { keysSuffix }: Collaborators,
  { app: only = app }: ExistingOptions,
): boolean {
  return app === only && !app.endsWith(keysSuffix);
}

function nameOf({ tenant, app }: SealScope): string {
  return JSON.stringify([tenant, app]);
}

function scopeOf(name: string): SealScope {
  const [tenant, app] = JSON.parse(name) as [string, string];
  return { tenant, app };
}

function isComplete(keyed: readonly KeyedLedgers[], stored: StoredScopes): boolean {
  const known = new Map(keyed.map(({ scope, keys }) => [nameOf(scope), keys]));
  return [...stored].every(
    ([name, ledgers]) =>
      known.has(name) && ledgers.every(({ id }) => known.get(name)?.has(id) === true),
  );
}
