import {
  type Agent,
  agent,
  type JsonValue,
  memoryStore,
  type RequestEntry,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Store,
  type Tool,
  tool,
} from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { type AdjutantServer, type ServerOptions, server } from '../../src/index.ts';
import { checkAnswer } from '../rest/documented.ts';

const jwtSecret = 'a secret of tests that is long enough';
/** Signs links. */
export const linkKey = { id: '2026-01', secret: 'k'.repeat(32) };

export interface PayToolOptions {
  readonly mayDecide?: readonly string[];
  readonly summary?: string;
  readonly details?: JsonValue;
  readonly expiresInMs?: number;
}

/** A tool that asks before it pays, and what it has paid. */
export function payTool({ summary, details, ...options }: PayToolOptions = {}): {
  readonly pay: Tool;
  readonly paid: JsonValue[];
} {
  const paid: JsonValue[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number().int(), to: z.string().optional() }),
    approval: {
      ...options,
      ...(summary === undefined ? {} : { summary: () => summary }),
      ...(details === undefined ? {} : { details: () => details }),
    },
    execute: (ctx) => {
      paid.push({ ...ctx.args });
      return `paid ${ctx.args.cents}`;
    },
  });
  return { pay, paid };
}

/** An agent that makes these payments in one round. */
export function payer(pay: Tool, payments: readonly JsonValue[], name = 'payer'): Agent {
  const toolCalls = payments.map((args) => ({ name: pay.name, args }));
  return agent({ name, model: roundModel([{ toolCalls }, { text: 'Done.' }]), tools: [pay] });
}

export interface PayingOptions extends PayToolOptions {
  readonly payments?: readonly JsonValue[];
  readonly store?: Store;
  readonly user?: string;
  readonly runtime?: Partial<RuntimeOptions>;
  readonly server?: ServerOptions;
}

/** A server whose app waits for leave to pay. */
export async function waitingServer({
  payments = [{ cents: 5 }],
  store = memoryStore(),
  user,
  runtime: more,
  server: options,
  ...tool
}: PayingOptions = {}) {
  const { pay, paid } = payTool(tool);
  const runnable = payer(pay, payments);
  const make = (): Runtime =>
    runtime({
      app: 'shop',
      store,
      runnables: [runnable],
      recover: 'manual',
      approvals: { keys: [linkKey] },
      ...more,
    });
  const app = make();
  const session = await app.sessions.create(user === undefined ? {} : { userId: user });
  const result = await app.run(runnable, { session, input: 'Pay' });
  const requestIds = result.pendingApprovals.map(({ requestId }) => requestId);
  const api = server(app, options);
  return {
    app,
    make,
    api,
    store,
    paid,
    runnable,
    session: session.id,
    requestIds,
    requestId: requestIds[0] ?? '',
  };
}

/** Members of JSON answers that tests read; each route has some of them. */
export interface AnsweredBody {
  readonly requests: readonly (RequestEntry & { readonly details: { readonly cents: number } })[];
  readonly outcomes: readonly unknown[];
  readonly cursor?: string;
  readonly url: string;
  readonly token: string;
  readonly session: string;
  readonly id: string;
  readonly status: unknown;
  readonly deltas?: string;
  /** Of problems. */
  readonly code: string;
  readonly detail: string;
}

/** Answer of a server. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON; `{}` for other answers. */
  readonly body: AnsweredBody;
}

let document: object | undefined;

/** All servers have one document, which takes long to make. */
export function documentOf(api: Pick<AdjutantServer, 'openApi'>): object {
  document ??= api.openApi();
  return document;
}

/**
 * Sends a request as a client does; a body is sent as JSON. The answer must be one that the server
 * documents.
 */
export async function send(
  api: Pick<AdjutantServer, 'fetch' | 'openApi'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const init =
    body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const sent = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  const response = await api.fetch(
    new Request(`http://localhost${path}`, { method, headers: sent, ...init }),
  );
  const text = await response.text();
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
  const contentType = response.headers.get('content-type');
  const json = isJson ? JSON.parse(text) : {};
  checkAnswer(documentOf(api), { method, path, status: response.status, contentType, body: json });
  return { status: response.status, headers: response.headers, text, body: json };
}

/** Lets in who has a token of `bearer`. */
export const tokenAuth = {
  auth: { keys: false, jwt: { secret: jwtSecret, claims: { tenant: false } } },
} as const satisfies ServerOptions;

/** The header of somebody with these claims. */
export async function bearer(claims: {
  readonly sub: string;
  readonly roles?: readonly string[];
  readonly user?: string;
  readonly agents?: readonly string[];
}) {
  const token = await new SignJWT({ roles: ['operator'], ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(jwtSecret));
  return { authorization: `Bearer ${token}` };
}
