import { AdjutantError, type JsonObject, type Runtime } from 'adjutant';
import { type Clock, type IdSource, systemClock, systemIds } from 'adjutant/ports';
import { defined, nearestName } from 'adjutant/text';
import { type Actor, actorPrefixes, looksLikeActor } from './actor.ts';
import {
  type ApiKey,
  credentialOf,
  hashOfSecret,
  isKeyValid,
  keyComponent,
  newKeySecret,
  withoutSecrets,
} from './api-key.ts';
import { KeyRing } from './key-ring.ts';
import { roles as knownRoles, type Role } from './principal.ts';
import { type DecisionDraft, isReservedTenant } from './system-ledger.ts';

const dayMs = 86_400_000;
const defaultLifeMs = 365 * dayMs;
const longestLifeMs = 10 * defaultLifeMs;
const defaultGraceMs = dayMs;
const longestText = 200;
const mostAgents = 100;

/** Values that a new key is made with. */
export interface NewApiKey {
  /** Purpose of the key: `ci`, `billing service`. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** Tenant whose sessions the key can reach. @default the tenant of the app */
  readonly tenant?: string;
  /**
   * Only sessions of this user are in its reach, and what it does is recorded as done by the user.
   * @default those of all
   */
  readonly user?: string;
  /** Only these agents are in its reach. @default all */
  readonly agents?: readonly string[];
  /**
   * Milliseconds from now on for which it is accepted; 10 years at most. @default 31_536_000_000
   * (365 days)
   */
  readonly expiresInMs?: number;
}

export interface RotateOptions {
  /**
   * Milliseconds for which the secret before is accepted, too; `0` ends it at once. @default
   * 86_400_000 (24 hours)
   */
  readonly graceMs?: number;
  /**
   * Milliseconds from now on for which the key is accepted; 10 years at most. @default
   * 31_536_000_000 (365 days)
   */
  readonly expiresInMs?: number;
}

/** Actor of a change of keys, and the tenant whose keys change. */
export interface KeyChangeOptions {
  /** @default 'operator' */
  readonly by?: Actor;
  /** Only keys of this tenant exist. @default those of all tenants */
  readonly tenant?: string;
}

/**
 * Key and the credential that callers send. The credential is not kept, so it cannot be shown
 * again.
 */
export interface IssuedApiKey {
  readonly key: ApiKey;
  /** `adj_<id>_<secret>`, for `Authorization: Bearer …`. */
  readonly credential: string;
}

/** A key cannot be made or changed as asked. */
export class InvalidApiKeyError extends AdjutantError<string> {
  constructor(data: { reason: string }) {
    super('invalid_api_key', `The API key cannot be made so: ${data.reason}.`, data);
  }
}

export class ApiKeyNotFoundError extends AdjutantError<string> {
  constructor(data: { key: string }) {
    const key = withoutSecrets(String(data.key));
    super(
      'api_key_not_found',
      `There is no API key with the id "${key}". Its id is the part between the underscores.`,
      { key },
    );
  }
}

/** A key that is over cannot be rotated, and an id cannot be given twice. */
export class ApiKeyStateError extends AdjutantError<string> {
  constructor(data: { key: string; state: 'revoked' | 'expired' | 'exists' }) {
    const told = {
      revoked: 'has been revoked. Make a new one',
      expired: 'has expired. Make a new one',
      exists: 'exists already, and its secret cannot be shown again. Rotate it for a new one',
    };
    super('api_key_state', `The API key "${data.key}" ${told[data.state]}.`, data);
  }
}

export interface ApiKeyPorts {
  readonly clock?: Clock;
  readonly ids?: IdSource;
  /** The keys, if they are in memory already. */
  readonly ring?: KeyRing;
}

/**
 * The API keys of an app: `apiKeys(app)`. They lie in the app's store; all servers of the app use
 * a change with their next request.
 */
export class ApiKeys {
  readonly #app: Runtime;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #ring: KeyRing;

  constructor(
    app: Runtime,
    {
      clock = systemClock,
      ids = systemIds,
      ring = new KeyRing(app, { clock, ids }),
    }: ApiKeyPorts = {},
  ) {
    this.#app = app;
    this.#clock = clock;
    this.#ids = ids;
    this.#ring = ring;
  }

  /**
   * Makes a key. What is given as `id` names it, and cannot be given twice.
   * @throws InvalidApiKeyError, ApiKeyStateError, StoreUnavailableError
   */
  async create(
    asked: NewApiKey,
    { by = 'operator', id = this.#ids.next() }: { readonly by?: Actor; readonly id?: string } = {},
  ): Promise<IssuedApiKey> {
    assertOptions(asked, keyOptions);
    const scope = checkedKey({ ...asked, tenant: asked.tenant ?? this.#app.tenant });
    const secret = newKeySecret();
    const expiresAt = this.#clock.now() + lifeOf(asked.expiresInMs);
    const data: JsonObject = { key: id, ...scope, expiresAt, hash: hashOfSecret(secret) };
    const reasoning =
      `A key for "${scope.name}" of the tenant "${scope.tenant}" as ` + `${scope.roles.join(', ')}`;
    const records = await this.#ring.change((before) => {
      if (before.has(id)) throw new ApiKeyStateError({ key: id, state: 'exists' });
      return [decision(by, 'created', reasoning, data)];
    });
    return { key: records.get(id)?.key as ApiKey, credential: credentialOf(id, secret) };
  }

  /** All keys, newest first, also those that are over. @throws StoreUnavailableError */
  async list({ tenant }: Pick<KeyChangeOptions, 'tenant'> = {}): Promise<readonly ApiKey[]> {
    const records = await this.#ring.records();
    const keys = [...records.values()]
      .map(({ key }) => key)
      .filter((key) => tenant === undefined || key.tenant === tenant);
    return keys.sort(
      (left, right) => right.createdAt - left.createdAt || (left.id < right.id ? -1 : 1),
    );
  }

  /**
   * Ends a key for good, with the next request of any server. Doing it again is no error. @throws
   * ApiKeyNotFoundError, StoreUnavailableError
   */
  async revoke(id: string, { by = 'operator', tenant }: KeyChangeOptions = {}): Promise<ApiKey> {
    const records = await this.#ring.change((before) => {
      const { revokedAt } = foundKey(before, id, tenant);
      return revokedAt === undefined
        ? [decision(by, 'revoked', 'The key is not to be used any more', { key: id })]
        : [];
    });
    return foundKey(records, id, tenant);
  }

  /**
   * Gives a key a new secret. The one before is accepted for a while, so that callers can change
   * over one by one; that before it no longer is.
   * @throws ApiKeyNotFoundError, ApiKeyStateError, InvalidApiKeyError, StoreUnavailableError
   */
  async rotate(id: string, options: RotateOptions & KeyChangeOptions = {}): Promise<IssuedApiKey> {
    assertOptions(options, rotateOptions);
    const { by = 'operator', tenant, graceMs = defaultGraceMs, expiresInMs } = options;
    if (!Number.isFinite(graceMs) || graceMs < 0 || graceMs > longestLifeMs)
      throw new InvalidApiKeyError({ reason: '`graceMs` must be a number of milliseconds from 0' });
    const secret = newKeySecret();
    const now = this.#clock.now();
    const expiresAt = now + lifeOf(expiresInMs);
    const records = await this.#ring.change((before) => {
      const key = foundKey(before, id, tenant);
      if (key.revokedAt !== undefined) throw new ApiKeyStateError({ key: id, state: 'revoked' });
      if (!isKeyValid(key, now)) throw new ApiKeyStateError({ key: id, state: 'expired' });
      // The secret before is accepted no longer than it would have been.
      const previousUntil = Math.min(now + graceMs, key.expiresAt);
      return [
        decision(by, 'rotated', 'The key gets a new secret', {
          key: id,
          hash: hashOfSecret(secret),
          expiresAt,
          previousUntil,
        }),
      ];
    });
    return { key: foundKey(records, id, tenant), credential: credentialOf(id, secret) };
  }
}

/**
 * The API keys of an app, for programs that make and revoke them. `adjutant keys` does the same in
 * a terminal.
 * @throws InvalidApiKeyError for what is no app
 * @example
 * ```ts
 * import { apiKeys } from '@adjutant/server';
 * import { runtime } from 'adjutant';
 *
 * const app = runtime({ app: 'shop' });
 * const keys = apiKeys(app);
 * const { key, credential } = await keys.create({ name: 'dashboard', roles: ['viewer'] });
 * console.log(key.id, credential.length);
 * await app.close();
 * ```
 */
export function apiKeys(app: Runtime): ApiKeys {
  const isApp =
    typeof app === 'object' &&
    app !== null &&
    typeof app.run === 'function' &&
    typeof app.app === 'string';
  if (!isApp)
    throw new InvalidApiKeyError({
      reason: 'keys are those of an app: apiKeys(runtime({ app: … }))',
    });
  return new ApiKeys(app);
}

const keyOptions = {
  name: true,
  roles: true,
  tenant: true,
  user: true,
  agents: true,
  expiresInMs: true,
} satisfies Record<keyof NewApiKey, true>;
const rotateOptions = { graceMs: true, expiresInMs: true, by: true, tenant: true } satisfies Record<
  keyof (RotateOptions & KeyChangeOptions),
  true
>;

/** A limit of a key that is misspelt would not be one. @throws InvalidApiKeyError */
function assertOptions(given: object, known: Readonly<Record<string, true>>): void {
  if (typeof given !== 'object' || given === null)
    throw new InvalidApiKeyError({ reason: 'the options must be an object' });
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, Object.keys(known));
  const hint =
    nearest === undefined
      ? `the options are ${Object.keys(known).join(', ')}`
      : `did you mean \`${nearest}\`?`;
  throw new InvalidApiKeyError({ reason: `there is no option \`${unknown}\` (${hint})` });
}

function decision(by: Actor, what: string, reasoning: string, data: JsonObject): DecisionDraft {
  return { type: 'decision', by, component: keyComponent, decision: what, reasoning, data };
}

/** @throws ApiKeyNotFoundError also for keys of other tenants: they are not there */
function foundKey(
  records: ReadonlyMap<string, { readonly key: ApiKey }>,
  id: string,
  tenant: string | undefined,
): ApiKey {
  const key = records.get(id)?.key;
  if (key === undefined || (tenant !== undefined && key.tenant !== tenant))
    throw new ApiKeyNotFoundError({ key: id });
  return key;
}

function lifeOf(expiresIn = defaultLifeMs): number {
  const fits = Number.isFinite(expiresIn) && expiresIn > 0 && expiresIn <= longestLifeMs;
  if (!fits)
    throw new InvalidApiKeyError({
      reason:
        '`expiresInMs` must be a number of milliseconds greater than 0 and no more than 10 years',
    });
  return expiresIn;
}

type KeyScope = Required<Pick<NewApiKey, 'name' | 'roles' | 'tenant'>> &
  Pick<NewApiKey, 'user' | 'agents'>;

/** @throws InvalidApiKeyError */
function checkedKey({
  name,
  roles,
  tenant,
  user,
  agents,
}: NewApiKey & { readonly tenant: string }): KeyScope {
  const refuse = (reason: string): never => {
    throw new InvalidApiKeyError({ reason });
  };
  if (!isName(name))
    refuse(
      `\`name\` must be a text of 1 to ${longestText} characters that says what the key is for`,
    );
  if (!isName(tenant)) refuse(`\`tenant\` must be a text of 1 to ${longestText} characters`);
  if (isReservedTenant(tenant))
    refuse(
      `the tenant "${tenant}" is the server's own; names that begin with "adjutant:" ` +
        'cannot be used',
    );
  if (user !== undefined && !isName(user))
    refuse(`\`user\` must be a text of 1 to ${longestText} characters`);
  if (user !== undefined && looksLikeActor(user))
    refuse(`\`user\` is a name without a kind: it cannot begin with one of ${actorPrefixes}`);
  const isList =
    Array.isArray(roles) && roles.length > 0 && roles.every((role) => knownRoles.includes(role));
  if (!isList) refuse(`\`roles\` must be a list of at least one of ${knownRoles.join(', ')}`);
  if (roles.includes('user') && user === undefined)
    refuse('a key of the role "user" must name its `user`: it reaches the sessions of that user');
  const areAgents =
    agents === undefined ||
    (Array.isArray(agents) &&
      agents.length > 0 &&
      agents.length <= mostAgents &&
      agents.every(isName));
  if (!areAgents) refuse(`\`agents\` must be a list of 1 to ${mostAgents} names of agents`);
  const bound = {
    ...defined({ user }),
    ...(agents === undefined ? {} : { agents: [...new Set(agents)] }),
  };
  return { name, tenant, roles: [...new Set(roles)], ...bound };
}

function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= longestText &&
    !/\p{Cc}/u.test(value)
  );
}
