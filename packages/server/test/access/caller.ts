import { agent, memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import { scriptedModel } from 'adjutant/testing';
import { onTestFinished } from 'vitest';
import { ApiKeys, type NewApiKey } from '../../src/access/api-keys.ts';
import { type AdjutantServer, type ServerOptions, server } from '../../src/index.ts';

export interface Asked {
  readonly as?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values that a runtime hands over beside the request. */
  readonly env?: object;
  readonly host?: string;
}

/** An answer, read. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** Each test says its type by its expectations. */
  readonly body: ReturnType<typeof JSON.parse>;
  readonly text: string;
}

/** Asks a server: `ask(api, 'POST /v1/keys', { as, body })`. */
export async function ask(
  api: AdjutantServer,
  what: string,
  { as, body, headers = {}, env, host = 'localhost' }: Asked = {},
): Promise<Answered> {
  const [method = '', path = ''] = what.split(' ');
  const request = new Request(`http://${host}${path}`, {
    method,
    headers: {
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const response = await api.fetch(request, env);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith('{') ? JSON.parse(text) : undefined,
  };
}

export interface World {
  readonly app: Runtime;
  readonly api: AdjutantServer;
  readonly keys: ApiKeys;
  /** Makes a key and gives its credential. */
  key(asked?: Partial<NewApiKey>): Promise<string>;
}

export interface WorldOptions extends ServerOptions {
  readonly store?: Store;
  readonly clock?: Clock;
  /** Asks for no credentials. @default false */
  readonly isOpen?: boolean;
}

/** An app with a server before it, for one test. */
export function world(options: WorldOptions = {}): World {
  const {
    store = memoryStore(options.clock === undefined ? {} : { clock: options.clock }),
    clock,
    isOpen = false,
    ...rest
  } = options;
  const ports = clock === undefined ? {} : { ports: { clock } };
  const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
  const app = runtime({ app: 'shop', store, runnables: [clerk], recover: 'manual', ...ports });
  const api = server(app, { ...(isOpen ? {} : { auth: {} }), ...ports, ...rest });
  const keys = new ApiKeys(app, clock === undefined ? {} : { clock });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  return {
    app,
    api,
    keys,
    key: async (asked) =>
      (await keys.create({ name: 'test', roles: ['admin'], ...asked })).credential,
  };
}

/** The values that Node hands over beside a request from this address. */
export function fromAddress(remoteAddress: string): object {
  return { incoming: { socket: { remoteAddress } } };
}
