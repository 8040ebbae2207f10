import { type AdjutantServer, type ServerOptions, server } from '@adjutant/server';
import type { Runtime } from 'adjutant';
import { onTestFinished } from 'vitest';
import { checkAnswer } from './documented.ts';

/** Members of bodies that tests read; each route has some of them. */
export interface AnsweredBody {
  readonly id: string;
  readonly asked: string;
  readonly session: string;
  readonly status: string;
  readonly cursor?: string;
  readonly next: number;
  readonly last: number;
  readonly links: Readonly<Record<string, string>>;
  readonly sessions: readonly {
    readonly id: string;
    readonly session: string;
    readonly user?: string;
  }[];
  readonly runs: readonly {
    readonly id: string;
    readonly confidence?: number;
    readonly lane?: string;
  }[];
  readonly events: readonly {
    readonly seq: number;
    readonly type: string;
    readonly [member: string]: unknown;
  }[];
  readonly agents: readonly { readonly name: string }[];
  readonly requests: readonly { readonly requestId: string }[];
  readonly total: { readonly calls: number; readonly usage: { readonly inputTokens: number } };
  readonly code: string;
  readonly detail: string;
  readonly output?: unknown;
  readonly confidence?: number;
  readonly waiting: number;
}

/** An answer with its body read. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: AnsweredBody;
}

/** Calls a server. Every JSON answer is held against the OpenAPI document. */
export interface Caller {
  readonly api: AdjutantServer;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  delete(path: string): Promise<Answered>;
  send(path: string, request: RequestInit): Promise<Answered>;
}

/**
 * Calls a server that is made for an app, and closed with it when the test ends. It has no dashboard
 * unless asked for: the answer at `/` must not depend on one having been built in this checkout.
 */
export function callerOf(app: Runtime, options: ServerOptions = {}): Caller {
  const api = server(app, { dashboard: false, ...options });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  return callerTo(api);
}

/** Calls a server in the name of whoever has a credential. */
export function callerTo(
  api: AdjutantServer,
  authorization: Readonly<Record<string, string>> = {},
): Caller {
  const send = async (path: string, request: RequestInit): Promise<Answered> => {
    const headers = {
      ...authorization,
      ...(request.headers as Record<string, string> | undefined),
    };
    const response = await api.fetch(
      new Request(`http://localhost${path}`, { ...request, headers }),
    );
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const body: unknown = isJson ? JSON.parse(text) : text;
    checkAnswer(api.openApi(), {
      method: request.method ?? 'GET',
      path,
      status: response.status,
      contentType: response.headers.get('content-type'),
      body,
    });
    return { status: response.status, headers: response.headers, text, body: body as AnsweredBody };
  };
  return {
    api,
    send,
    get: (path, headers = {}) => send(path, { method: 'GET', headers }),
    post: (path, body, headers = {}) =>
      send(path, {
        method: 'POST',
        ...(body === undefined
          ? { headers }
          : {
              body: JSON.stringify(body),
              headers: { 'content-type': 'application/json', ...headers },
            }),
      }),
    delete: (path) => send(path, { method: 'DELETE' }),
  };
}
