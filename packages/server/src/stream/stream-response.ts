import type { Principal } from '../access/principal.ts';
import type { ServerParts } from '../http/parts.ts';
import { problemOf, statusOf } from '../http/problem.ts';
import type { RouteInput } from '../http/route.ts';
import { eventStream, type StreamEnding } from './event-stream.ts';
import { followed, type StreamSubject } from './followed.ts';
import type { SentFrame } from './frame.ts';
import type { HeldPlace } from './open-streams.ts';
import { beginning } from './position.ts';

/** Of a request: what its stream needs. */
export type StreamRequest = Pick<
  RouteInput<unknown, unknown, unknown>,
  'app' | 'principal' | 'request' | 'requestId'
>;

/** Proxies must neither keep a stream nor wait until there is more of it. */
export const streamHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** Further parts of an answer with a stream. */
export interface StreamAnswer {
  readonly headers?: Readonly<Record<string, string>>;
  /** The place that was held for it. @default a new one */
  readonly place?: HeldPlace;
}

/**
 * Answers with a stream of server-sent events; with 204, by which an `EventSource` comes to rest,
 * when there is nothing more to be told.
 * @throws RequestRefusedError `run_not_found` (404), `too_many_streams` (429)
 */
export async function streamResponse(
  parts: ServerParts,
  { principal, request, requestId }: Omit<StreamRequest, 'app'>,
  subject: StreamSubject,
  { headers = {}, place }: StreamAnswer = {},
): Promise<Response> {
  const { replays } = parts;
  const stream = await followed(subject, { replays, principal, signal: request.signal });
  const answer = { status: 200, headers: { ...streamHeaders, ...headers } };
  if (stream === undefined || request.method === 'HEAD') {
    place?.();
    return new Response(
      null,
      stream === undefined ? { status: 204, headers: { 'cache-control': 'no-store' } } : answer,
    );
  }
  return sentEvents(
    parts,
    { principal, request, requestId },
    (encoding, signal) => stream.follow(encoding, signal),
    { headers, ...(place === undefined ? {} : { place }) },
  );
}

/** Frames of a stream, as long as somebody reads it. */
type Follow = Parameters<typeof eventStream>[0];

/**
 * Answers with server-sent events, until their frames or the stream end.
 * @throws RequestRefusedError `too_many_streams` (429)
 */
export function sentEvents(
  parts: ServerParts,
  { principal, request, requestId }: Omit<StreamRequest, 'app'>,
  follow: Follow,
  { headers = {}, place }: StreamAnswer = {},
): Response {
  const { clock, metrics, options, streams } = parts;
  // Not the request itself, which would be kept in memory as long as the stream lasts.
  const { method, url } = request;
  const body = eventStream(follow, {
    clock,
    endings: (whileOpen) => streamEndings(parts, principal, whileOpen),
    heartbeatMs: options.stream.heartbeatMs,
    onClose: place ?? streams.open(principal, 'sse'),
    onSent: (frames) => {
      for (let i = 0; i < frames; i++) metrics.eventSent('sse');
    },
    problem: (error) =>
      brokenFrame(parts, error, { id: requestId, method, path: new URL(url).pathname }),
  });
  return new Response(body, { status: 200, headers: { ...streamHeaders, ...headers } });
}

/**
 * Returns the endings of a stream from outside: the server closes, or its caller may not read any
 * more.
 */
export function streamEndings(
  { closing, access }: ServerParts,
  principal: Principal,
  whileOpen: AbortSignal,
): readonly StreamEnding[] {
  return [
    { signal: closing, note: 'the server closes' },
    { signal: access.ended(principal, whileOpen), note: 'the credential has ended' },
  ];
}

/** Answers with the stream of a run that was just started. */
export function streamRun(
  parts: ServerParts,
  input: StreamRequest,
  { session, run }: { readonly session: string; readonly run: string },
  answer: StreamAnswer,
): Promise<Response> {
  return streamResponse(
    parts,
    input,
    {
      app: input.app,
      agents: input.principal.agents,
      session,
      run,
      profile: 'native',
      position: beginning,
    },
    answer,
  );
}

/**
 * Returns the frame for a reader whose stream breaks. The operator gets more detail, unless it
 * breaks because the server closes.
 */
export function brokenFrame(
  { options, closing }: Pick<ServerParts, 'options' | 'closing'>,
  error: unknown,
  request: { readonly id: string; readonly method: string; readonly path: string },
): SentFrame {
  if (statusOf(error) >= 500 && !closing.aborted) options.onError(error, request);
  return { event: 'problem', data: problemOf(error, request.id) };
}
