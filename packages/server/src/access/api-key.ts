import { createHash, timingSafeEqual } from 'node:crypto';
import type { JsonObject, StoredEvent } from 'adjutant';
import { systemIds } from 'adjutant/ports';
import { type Role, roles } from './principal.ts';

/** An API key as its administrators see it: everything but its secret. */
export interface ApiKey {
  /** Names the key; not secret. It stays the same when the key is rotated. */
  readonly id: string;
  /** Purpose of the key. */
  readonly name: string;
  /** Tenant whose sessions the key can reach. */
  readonly tenant: string;
  readonly roles: readonly Role[];
  /** Only sessions of this user exist for it. */
  readonly user?: string;
  /** Only these agents exist for it. */
  readonly agents?: readonly string[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Actor that made the key, as ledgers name it. */
  readonly createdBy: string;
  /** Epoch milliseconds from which it is not accepted any more. */
  readonly expiresAt: number;
  /** When it was rotated last. */
  readonly rotatedAt?: number;
  /** Until when the secret before the last rotation is accepted beside the new one. */
  readonly previousUntil?: number;
  /** Since when it is not accepted any more. */
  readonly revokedAt?: number;
}

/** A key with what its secrets are checked by. */
export interface KeyRecord {
  readonly key: ApiKey;
  /** SHA-256 of the secret, in hexadecimal digits. */
  readonly hash: string;
  /** That of the secret before the last rotation. */
  readonly previousHash?: string;
}

/** All keys by id, as of an event of their ledger. */
export type KeyRecords = ReadonlyMap<string, KeyRecord>;

/** Which part of the server decides about keys, in its ledger. */
export const keyComponent = 'api_keys';

const prefix = 'adj';
/** 16 symbols of 5 bits each in one id of the source. */
const idsInSecret = 3;

/** A secret of 240 random bits. Always of the system's source: ids of tests can be guessed. */
export function newKeySecret(): string {
  return Array.from({ length: idsInSecret }, () => systemIds.next()).join('');
}

/** Returns the credential that a caller sends: `adj_<id>_<secret>`. */
export function credentialOf(id: string, secret: string): string {
  return `${prefix}_${id}_${secret}`;
}

/** The id and the secret in a credential; `undefined` when it is no API key. */
function parsedCredential(
  credential: string,
): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = /^adj_([a-z0-9]{4,40})_([a-z0-9]{20,100})$/.exec(credential) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** True when a credential has the form of an API key. */
export function isKeyCredential(credential: string): boolean {
  return credential.startsWith(`${prefix}_`);
}

/**
 * Returns a text without the secrets of keys: a caller that names an id may give the whole
 * credential.
 */
export function withoutSecrets(text: string): string {
  return text.replaceAll(/adj_([a-z0-9]{4,40})_[a-z0-9]+/g, 'adj_$1_…');
}

export function hashOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares in a time that does not depend on where two hashes differ. */
export function isSameHash(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left, 'hex'), Buffer.from(right, 'hex')];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Hash that the secret of an unknown id is compared with, so that it takes as long as a known one.
 */
const noHash = hashOfSecret('');

/** A key, and which of its secrets opened it. */
export interface OpenedKey {
  readonly key: ApiKey;
  /** SHA-256 of the secret. */
  readonly hash: string;
}

/** The key that a credential opens now, if there is one. */
export function openedKey(
  records: KeyRecords,
  credential: string,
  now: number,
): OpenedKey | undefined {
  const parsed = parsedCredential(credential);
  if (parsed === undefined) return undefined;
  const record = records.get(parsed.id);
  const given = hashOfSecret(parsed.secret);
  const isCurrent = isSameHash(given, record?.hash ?? noHash);
  const isPrevious = isSameHash(given, record?.previousHash ?? noHash);
  // Both were compared, whichever it is.
  if (record === undefined || (!isCurrent && !isPrevious) || now >= endOfSecret(record, given))
    return undefined;
  return { key: record.key, hash: given };
}

/**
 * Epoch milliseconds from which a secret of a key is not accepted any more; 0 for one that is not,
 * whatever the time.
 */
export function endOfSecret({ key, hash, previousHash }: KeyRecord, secretHash: string): number {
  const { revokedAt, expiresAt, previousUntil = 0 } = key;
  if (revokedAt !== undefined) return 0;
  if (secretHash === hash) return expiresAt;
  return secretHash === previousHash ? Math.min(expiresAt, previousUntil) : 0;
}

/** True when a key is accepted at the given time. */
export function isKeyValid({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && now < expiresAt;
}

/**
 * Folds an event of the ledger of keys. What cannot be understood gives no key, and takes back the
 * one that it is about.
 */
export function foldKeyEvent(records: Map<string, KeyRecord>, event: StoredEvent): void {
  if (event.type === 'unreadable') {
    // The key of an unreadable event is not known: the event may have been a revocation.
    records.clear();
    return;
  }
  if (event.type !== 'decision' || event.component !== keyComponent) return;
  const { data = {}, decision, at, by } = event;
  const id = String(data['key']);
  const record = records.get(id);
  const next =
    decision === 'created'
      ? createdRecord(id, data, at, by)
      : record === undefined
        ? undefined
        : changedRecord(record, decision, data, at);
  if (next === undefined) records.delete(id);
  else records.set(id, next);
}

function createdRecord(
  id: string,
  data: JsonObject,
  at: number,
  by: string,
): KeyRecord | undefined {
  const { name, tenant, roles: given, user, agents, expiresAt, hash } = data;
  if (
    typeof name !== 'string' ||
    typeof tenant !== 'string' ||
    typeof expiresAt !== 'number' ||
    typeof hash !== 'string'
  )
    return undefined;
  if (!isRoles(given)) return undefined;
  const bound = {
    ...(typeof user === 'string' ? { user } : {}),
    ...(isTexts(agents) ? { agents } : {}),
  };
  return {
    key: { id, name, tenant, roles: given, ...bound, createdAt: at, createdBy: by, expiresAt },
    hash,
  };
}

function changedRecord(
  record: KeyRecord,
  decision: string,
  data: JsonObject,
  at: number,
): KeyRecord | undefined {
  const { key } = record;
  if (decision === 'revoked') return { ...record, key: { ...key, revokedAt: key.revokedAt ?? at } };
  const { hash, expiresAt, previousUntil } = data;
  if (
    decision !== 'rotated' ||
    typeof hash !== 'string' ||
    typeof expiresAt !== 'number' ||
    typeof previousUntil !== 'number'
  )
    return undefined;
  return {
    key: { ...key, expiresAt, previousUntil, rotatedAt: at },
    hash,
    previousHash: record.hash,
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((part) => typeof part === 'string');
}

function isRoles(value: unknown): value is readonly Role[] {
  return (
    isTexts(value) &&
    value.length > 0 &&
    value.every((part) => (roles as readonly string[]).includes(part))
  );
}
