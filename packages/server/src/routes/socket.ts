import { upgradeWebSocket } from '@hono/node-server';
import { defined } from 'adjutant/text';
import type { Context } from 'hono';
import type { WebSocket } from 'ws';
import { credentialIn } from '../access/credential.ts';
import { isPageOrigin } from '../access/local-access.ts';
import type { AddRoutes, Api, ServerEnv, ServerParts } from '../http/parts.ts';
import { problemOf, RequestRefusedError } from '../http/problem.ts';
import { reachableSession } from '../http/reachable.ts';
import { addRoute } from '../http/route.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import { type FollowedStream, followed } from '../stream/followed.ts';
import type { SentFrame } from '../stream/frame.ts';
import { assertInLedger, positionOf } from '../stream/position.ts';
import { readCommand, requestOf } from '../stream/socket/commands.ts';
import { type CommandOutcome, SocketConnection } from '../stream/socket/connection.ts';
import { brokenFrame, type StreamRequest, streamEndings } from '../stream/stream-response.ts';
import { streamQuerySchema } from './streams.ts';

type Input = StreamRequest & { readonly context: Context<ServerEnv> };

/** One socket for both directions: what happens in a session, and what is said to it. */
export const addSocketRoutes: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/sessions/{session}/socket',
      permission: 'read',
      operationId: 'openSocket',
      tag: 'Streams',
      summary: 'A WebSocket: what happens in a session, and what is said to it',
      description:
        'The server sends what the stream of the session has, each event as one JSON ' +
        'object. The client sends commands: `message`, `answer`, `cancel`, `pause`, ' +
        '`interrupt`, `continue` and `start`, which need the permission `operate`; each is ' +
        'answered by an `ack` or a `problem` with its `id`.',
      params: sessionPathSchema,
      query: streamQuerySchema,
      answers: { 101: { description: 'The socket is open' } },
    },
    async (input) => {
      const { context, app, params, query, request } = input;
      assertUpgrade(context);
      assertOrigin(context, parts);
      const position = positionOf(request, query.after);
      const { seq } = await reachableSession(input, params.session);
      assertInLedger(position, seq);
      const stream = await followed(
        {
          app,
          agents: input.principal.agents,
          session: params.session,
          profile: query.profile,
          position,
        },
        { replays: parts.replays, principal: input.principal, signal: request.signal },
      );
      parts.streams.assertRoom(input.principal);
      if (stream === undefined) throw unavailable();
      return open(api, parts, input, { session: params.session, stream });
    },
  );
};

/** @throws RequestRefusedError `upgrade_required` (426), `sockets_unavailable` (501) */
function assertUpgrade({ req, env }: Context<ServerEnv>): void {
  if (req.header('upgrade')?.toLowerCase() !== 'websocket') {
    const headers = { upgrade: 'websocket', connection: 'Upgrade' };
    throw new RequestRefusedError(
      426,
      'upgrade_required',
      'This is a WebSocket: open it with the header "Upgrade: websocket".',
      {},
      headers,
    );
  }
  if ((env as { readonly incoming?: unknown } | undefined)?.incoming === undefined)
    throw unavailable();
}

function unavailable(): RequestRefusedError {
  return new RequestRefusedError(
    501,
    'sockets_unavailable',
    'There are no WebSockets here: `serve` has them. Streams of server-sent events are everywhere.',
  );
}

/**
 * Browsers let any page open a socket and only say which one it was. @throws RequestRefusedError
 * `origin_not_allowed` (403)
 */
function assertOrigin({ req }: Context<ServerEnv>, { options }: ServerParts): void {
  const origin = req.header('origin');
  if (origin === undefined) return;
  const allowed = options.cors?.origins ?? [];
  const isOwn = isPageOrigin(origin) && new URL(origin).host === new URL(req.url).host;
  if (isOwn || allowed.includes('*') || allowed.includes(origin)) return;
  throw new RequestRefusedError(
    403,
    'origin_not_allowed',
    'Pages of this origin may not open sockets here. The option `cors` of the server lets them.',
  );
}

interface Subject {
  readonly session: string;
  readonly stream: FollowedStream;
}

async function open(
  api: Api,
  parts: ServerParts,
  input: Input,
  { session, stream }: Subject,
): Promise<Response> {
  const { context, principal, requestId, request } = input;
  const { clock, metrics, options, streams } = parts;
  const about = { id: requestId, method: request.method, path: new URL(request.url).pathname };
  const problem = (error: unknown): SentFrame => brokenFrame(parts, error, about);
  const carryOut = commander(api, input, { session, problem });
  const upgraded = await upgradeWebSocket(context as Context, {
    onOpen: (_event, { raw }) => {
      const connection = new SocketConnection(raw as WebSocket, {
        clock,
        stream,
        carryOut,
        heartbeatMs: options.stream.heartbeatMs,
        endings: (whileOpen) => streamEndings(parts, principal, whileOpen),
        refuseBinary: () =>
          refused(requestId, { code: 'malformed_json', message: 'Messages must be text.' }),
        problem,
        // Counted only now: a handshake that is broken off is never heard of again.
        onClose: streams.count(principal, 'socket'),
        onSent: () => metrics.eventSent('socket'),
      });
      connection.open();
    },
  });
  if (upgraded.status === 500) throw unavailable();
  return upgraded;
}

interface Commanded {
  readonly session: string;
  /** Returns the frame that reports an error to the client. */
  readonly problem: (error: unknown) => SentFrame;
}

/**
 * Carries commands out as the requests that they stand for, so that they are checked, counted and
 * recorded like these.
 */
function commander(
  api: Api,
  { context, requestId }: Input,
  { session, problem }: Commanded,
): (text: string) => Promise<CommandOutcome> {
  const origin = new URL(context.req.url).origin;
  const headers = callerHeaders(context);
  const { incoming } = context.env as { readonly incoming?: unknown };
  return async (text) => {
    const read = readCommand(text);
    if (!('command' in read)) return refused(requestId, read);
    const { id } = read.command;
    const named = defined({ id });
    try {
      const { path, body, idempotencyKey } = requestOf(read.command, session);
      const keyed = defined({ 'idempotency-key': idempotencyKey });
      const request = new Request(`${origin}${path}`, {
        method: 'POST',
        headers: { ...headers, ...keyed },
        body: JSON.stringify(body),
      });
      const answer = await api.fetch(request, { incoming });
      const result: unknown = await answer.json().catch(() => undefined);
      const told = answer.ok
        ? { type: 'ack', ...named, status: answer.status, result }
        : { type: 'problem', ...named, problem: result };
      return { told, isCommand: true };
    } catch (error) {
      return { told: { type: 'problem', ...named, problem: problem(error).data }, isCommand: true };
    }
  };
}

/**
 * Returns the headers that identify the caller and its address to the routes, as they were when the
 * socket was opened.
 */
function callerHeaders(context: Context<ServerEnv>): Readonly<Record<string, string>> {
  const credential = credentialIn(context);
  const kept = [
    'host',
    'origin',
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-forwarded-host',
    'x-real-ip',
    'via',
    'sec-fetch-site',
  ];
  const given = kept.flatMap((name) => {
    const value = context.req.header(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(given),
    'content-type': 'application/json',
    ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
  };
}

function refused(
  requestId: string,
  {
    id,
    code,
    message,
  }: { readonly id?: string | number | undefined; readonly code: string; readonly message: string },
): CommandOutcome {
  const problem = problemOf(new RequestRefusedError(400, code, message), requestId);
  return {
    told: { type: 'problem', ...defined({ id }), problem },
    isCommand: false,
  };
}
