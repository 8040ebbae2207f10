import { defined } from 'adjutant/text';
import type { ApiKey } from '../access/api-key.ts';
import { ApiKeyNotFoundError, ApiKeys } from '../access/api-keys.ts';
import { type Principal, permissionsOfRole, type Role } from '../access/principal.ts';
import { newId } from '../http/new-id.ts';
import type { AddRoutes, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { addRoute } from '../http/route.ts';
import {
  issuedKeySchema,
  keyPathSchema,
  keySchema,
  keysSchema,
  newKeySchema,
  rotationSchema,
} from '../schemas/key.ts';

const tag = 'Keys';
const permission = 'manage';

const addListKeys: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      ...{ method: 'get', path: '/v1/keys', permission, operationId: 'listKeys', tag },
      summary: 'Lists the API keys of the tenant, newest first, also those that are over',
      answers: { 200: { description: 'The keys, without their secrets.', schema: keysSchema } },
    },
    async ({ principal }) => ({
      status: 200,
      body: { keys: (await new KeysInReach(parts, principal).list()).map(shown) },
    }),
  );
};

const addCreateKey: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      ...{ method: 'post', path: '/v1/keys', permission, operationId: 'createKey', tag },
      summary: 'Makes an API key of the tenant',
      description:
        'Nobody can give a key more than they may do themselves. Repeated under the same ' +
        '`Idempotency-Key` it makes no second key, and does not show the secret again.',
      repeated: 'refused',
      body: newKeySchema,
      answers: {
        201: {
          description: 'The key, and the credential that is shown only now.',
          schema: issuedKeySchema,
        },
      },
    },
    async (input) => {
      const { name, roles, user, agents, expiresInMs } = input.body;
      const id = newId(input, 'key').slice('key_'.length);
      const asked = {
        name,
        roles,
        ...(user && { user }),
        ...(agents && { agents }),
        ...(expiresInMs && { expiresInMs }),
      };
      const { key, credential } = await new KeysInReach(parts, input.principal).create(id, asked);
      return {
        status: 201,
        body: { key: shown(key), credential },
        headers: { location: `/v1/keys/${key.id}` },
      };
    },
  );
};

const addRevokeKey: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      ...{ method: 'delete', path: '/v1/keys/{key}', permission, operationId: 'revokeKey', tag },
      summary: 'Ends an API key for good, in all processes, with their next request',
      params: keyPathSchema,
      answers: {
        200: { description: 'The key, which is not accepted any more.', schema: keySchema },
      },
    },
    async ({ params, principal }) => ({
      status: 200,
      body: shown(await new KeysInReach(parts, principal).revoke(params.key)),
    }),
  );
};

const addRotateKey: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      ...{
        method: 'post',
        path: '/v1/keys/{key}/rotate',
        permission,
        operationId: 'rotateKey',
        tag,
      },
      summary: 'Gives an API key a new secret; the one before is accepted for a while',
      repeated: 'refused',
      params: keyPathSchema,
      body: rotationSchema,
      answers: {
        200: {
          description: 'The key, and the credential that is shown only now.',
          schema: issuedKeySchema,
        },
      },
    },
    async ({ params, body: { graceMs, expiresInMs }, principal }) => {
      const options = {
        ...defined({ graceMs }),
        ...(expiresInMs && { expiresInMs }),
      };
      const { key, credential } = await new KeysInReach(parts, principal).rotate(
        params.key,
        options,
      );
      return { status: 200, body: { key: shown(key), credential } };
    },
  );
};

/** The API keys of the caller's tenant. */
export const addKeyRoutes: AddRoutes = (api, parts) => {
  for (const add of [addListKeys, addCreateKey, addRevokeKey, addRotateKey]) add(api, parts);
};

function shown({ roles, agents, ...key }: ApiKey) {
  return { ...key, roles: [...roles], ...(agents === undefined ? {} : { agents: [...agents] }) };
}

/**
 * The keys that a caller may see and change: those of its tenant that may do nothing that the
 * caller may not.
 */
class KeysInReach {
  readonly #keys: ApiKeys;
  readonly #principal: Principal;

  constructor({ app, clock, ids, access, options }: ServerParts, principal: Principal) {
    if (options.auth?.keys === false) {
      throw new RequestRefusedError(
        409,
        'keys_not_accepted',
        'This server accepts no API keys (`auth.keys` is false): callers need tokens.',
      );
    }
    this.#keys = new ApiKeys(app, { clock, ids, ring: access.keys });
    this.#principal = principal;
  }

  async list(): Promise<readonly ApiKey[]> {
    return (await this.#keys.list({ tenant: this.#principal.tenant })).filter((key) =>
      this.#isInReach(key),
    );
  }

  async create(id: string, asked: Parameters<ApiKeys['create']>[0]) {
    const { tenant, user, agents, actor } = this.#principal;
    const bound = defined({ user, agents });
    const wanted = { ...bound, ...asked, tenant };
    if (!this.#isInReach(wanted)) {
      throw new RequestRefusedError(
        403,
        'forbidden',
        'This key could do more than you may. Give it no other user, and no agents and ' +
          'roles that you do not have.',
      );
    }
    return this.#keys.create(wanted, { by: actor, id });
  }

  async revoke(id: string): Promise<ApiKey> {
    await this.#assertInReach(id);
    return this.#keys.revoke(id, this.#change());
  }

  async rotate(id: string, options: { readonly graceMs?: number; readonly expiresInMs?: number }) {
    await this.#assertInReach(id);
    return this.#keys.rotate(id, { ...options, ...this.#change() });
  }

  #change(): { readonly by: Principal['actor']; readonly tenant: string } {
    return { by: this.#principal.actor, tenant: this.#principal.tenant };
  }

  async #assertInReach(id: string): Promise<void> {
    if (!(await this.list()).some((key) => key.id === id))
      throw new ApiKeyNotFoundError({ key: id });
  }

  #isInReach({
    roles,
    user,
    agents,
  }: {
    readonly roles: readonly Role[];
    readonly user?: string;
    readonly agents?: readonly string[];
  }): boolean {
    const own = this.#principal;
    const permissions = new Set(own.roles.flatMap((role) => permissionsOfRole[role]));
    if (!roles.every((role) => permissionsOfRole[role].every((needed) => permissions.has(needed))))
      return false;
    if (own.user !== undefined && user !== own.user) return false;
    return (
      own.agents === undefined || (agents?.every((name) => own.agents?.includes(name)) ?? false)
    );
  }
}
