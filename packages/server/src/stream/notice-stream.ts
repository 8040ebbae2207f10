import type { NoticeStream } from 'adjutant/notifications';
import { defined } from 'adjutant/text';
import type { ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { eventStream } from './event-stream.ts';
import type { Encoding, Piece } from './replay/telling.ts';
import {
  brokenFrame,
  type StreamRequest,
  streamEndings,
  streamHeaders,
} from './stream-response.ts';

/**
 * Answers with a stream of the notices of the caller's user, from now on.
 * @throws RequestRefusedError `notice_stream_unavailable` (409), `user_needed` (403),
 * `too_many_streams` (429)
 */
export function noticeStreamResponse(parts: ServerParts, input: StreamRequest): Response {
  const { clock, metrics, options, streams } = parts;
  const { app, principal, request, requestId } = input;
  const hub = options.notices;
  const { agents, user } = principal;
  if (hub === undefined) throw withoutHub();
  // Notices are about all agents.
  if (user === undefined || agents !== undefined) throw withoutUser();
  const onClose = streams.open(principal, 'sse');
  const { method, url } = request;
  const body = eventStream(
    // Subscribed at once: what is sent before the first look is not lost.
    (encoding, signal) => told(hub.subscribe(app.tenant, user, { signal }), encoding),
    {
      clock,
      endings: (whileOpen) => streamEndings(parts, principal, whileOpen),
      heartbeatMs: options.stream.heartbeatMs,
      onClose,
      onSent: (frames) => {
        for (let i = 0; i < frames; i++) metrics.eventSent('sse');
      },
      problem: (error) =>
        brokenFrame(parts, error, { id: requestId, method, path: new URL(url).pathname }),
    },
  );
  return new Response(body, { status: 200, headers: streamHeaders });
}

async function* told<Written>(
  stream: NoticeStream,
  encoding: Encoding<Written>,
): AsyncGenerator<Piece<Written>, void, undefined> {
  for await (const { missed, notice } of stream) {
    const { tenant: _, ...shown } = notice;
    const frame = { event: 'notice', data: { ...shown, ...defined({ missed }) } };
    yield { written: encoding.write([frame]), frames: 1 };
  }
}

function withoutHub(): RequestRefusedError {
  return new RequestRefusedError(
    409,
    'notice_stream_unavailable',
    'This server shows no notices on open pages: give it the option `notices`, made by ' +
      'noticeHub(), and the app a streamChannel of the same hub.',
  );
}

function withoutUser(): RequestRefusedError {
  return new RequestRefusedError(
    403,
    'user_needed',
    'Notices belong to people: this needs a credential that is bound to a user, and not to agents.',
  );
}
