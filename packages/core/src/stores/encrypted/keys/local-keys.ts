import { hkdfSync } from 'node:crypto';
import { InvalidOptionError } from '../../../base/invalid-option.ts';
import {
  findInvalidOption,
  isNonEmptyText,
  type OptionCheck,
  type OptionChecks,
} from '../../../base/options.ts';
import { Secret } from '../../../base/secret.ts';
import { keyBytes, seal, unseal } from '../cipher.ts';
import { KeyUnavailableError } from '../errors.ts';
import type { KeyProvider } from './key-provider.ts';

/** A master key. Give either `key` or `secret`. */
export interface LocalKey {
  /**
   * Id that is stored beside everything the key wrapped, and named in errors. Never used for
   * another key.
   */
  readonly id: string;
  /** 32 random bytes, or these in hexadecimal or base64. */
  readonly key?: Uint8Array | string | Secret;
  /**
   * A random text of at least 32 characters, such as a secret manager makes. Not a password:
   * nothing slows down guessing.
   */
  readonly secret?: string | Secret;
  /**
   * The only tenant that the key is for. Removing the key makes all content of the tenant
   * unreadable.
   * @default all
   */
  readonly tenant?: string;
}

export interface LocalKeysOptions {
  /** The master keys. The first one for a tenant wraps its data keys; all of them unwrap. */
  readonly keys: readonly LocalKey[];
}

interface MasterKey {
  readonly id: string;
  readonly tenant: string | undefined;
  readonly bytes: Uint8Array;
}

const leastSecretLength = 32;

/**
 * Master keys that this process holds. Each tenant has keys of its own, derived from them by
 * HKDF-SHA-256 with the tenant's name.
 * @throws InvalidOptionError
 */
export function localKeys(options: LocalKeysOptions): KeyProvider {
  const masters = checkedKeys(options);
  const currentOf = (tenant: string): MasterKey => {
    const current = masters.find((master) => isFor(master, tenant));
    if (current !== undefined) return current;
    throw new KeyUnavailableError({
      tenant,
      keyId: '(current)',
      reason: 'localKeys was given no key for this tenant',
    });
  };
  return {
    currentKey: async (tenant) => ({ id: currentOf(tenant).id }),
    wrap: async (tenant, dataKey) => {
      const master = currentOf(tenant);
      return {
        keyId: master.id,
        wrapped: seal(tenantKey(master, tenant), placeOf(tenant, master.id), dataKey),
      };
    },
    unwrap: async (tenant, keyId, wrapped) => {
      const master = masters.find((one) => one.id === keyId && isFor(one, tenant));
      if (master === undefined) {
        const reason =
          'localKeys was not given it; add it behind the current one, or restore it if it was lost';
        throw new KeyUnavailableError({ tenant, keyId, reason });
      }
      const dataKey = unseal(tenantKey(master, tenant), placeOf(tenant, keyId), wrapped);
      if (dataKey !== undefined) return dataKey;
      const reason =
        'it is not the key that the data were written with, or the wrapped key was damaged';
      throw new KeyUnavailableError({ tenant, keyId, reason });
    },
  };
}

function isFor(master: MasterKey, tenant: string): boolean {
  return master.tenant === undefined || master.tenant === tenant;
}

function tenantKey(master: MasterKey, tenant: string): Uint8Array {
  return new Uint8Array(
    hkdfSync('sha256', master.bytes, 'adjutant tenant key', JSON.stringify(tenant), keyBytes),
  );
}

function placeOf(tenant: string, keyId: string): string {
  return JSON.stringify(['data key', tenant, keyId]);
}

const isKey: OptionCheck = (value) =>
  decodedKey(value)?.length === keyBytes
    ? undefined
    : `${keyBytes} bytes, or these in hexadecimal or base64 (\`openssl rand -base64 32\` ` +
      'makes some)';
const isSecretText: OptionCheck = (value) =>
  textOf(value).length >= leastSecretLength
    ? undefined
    : `a random text of at least ${leastSecretLength} characters`;
const keyChecks: OptionChecks<LocalKey> = {
  id: isNonEmptyText,
  key: isKey,
  secret: isSecretText,
  tenant: isNonEmptyText,
};

/**
 * Checks the keys. The errors do not repeat the value: it may be the secret with a letter missing.
 */
function checkedKeys(options: LocalKeysOptions): readonly MasterKey[] {
  const refuse = (reason: string): InvalidOptionError =>
    new InvalidOptionError({ function: 'localKeys', reason });
  const isKeyList: OptionCheck = (value) =>
    Array.isArray(value) && value.length > 0 ? undefined : 'a list of at least one key';
  const invalid = findInvalidOption(options, { keys: isKeyList });
  if (invalid !== undefined) throw refuse(`the options must be ${invalid.within}`);
  if (options.keys === undefined) throw refuse('`keys` must be a list of at least one key');
  const ids = new Set<string>();
  return options.keys.map((one, i) => {
    const wrong = findInvalidOption(one, keyChecks);
    if (wrong !== undefined) throw refuse(`\`keys[${i}]\` must be ${wrong.within}`);
    const { id, key, secret, tenant } = one;
    if (id === undefined) throw refuse(`\`keys[${i}]\` must have an \`id\``);
    if ((key === undefined) === (secret === undefined))
      throw refuse(`\`keys[${i}]\` must have either a \`key\` or a \`secret\``);
    if (ids.has(id)) throw refuse(`two keys have the id "${id}"`);
    ids.add(id);
    return {
      id,
      tenant,
      bytes: key === undefined ? Buffer.from(textOf(secret)) : (decodedKey(key) as Uint8Array),
    };
  });
}

function textOf(value: unknown): string {
  if (value instanceof Secret) return value.reveal();
  return typeof value === 'string' ? value : '';
}

function decodedKey(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value.slice();
  const text = textOf(value).trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64url') : undefined;
}
