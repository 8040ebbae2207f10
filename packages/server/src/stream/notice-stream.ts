import type { NoticeStream } from 'adjutant/notifications';
import { defined } from 'adjutant/text';
import type { ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import type { Encoding, Piece } from './replay/telling.ts';
import { type StreamRequest, sentEvents } from './stream-response.ts';

/**
 * Answers with a stream of the notices of the caller's user, from now on.
 * @throws RequestRefusedError `notice_stream_unavailable` (409), `user_needed` (403),
 * `too_many_streams` (429)
 */
export function noticeStreamResponse(parts: ServerParts, input: StreamRequest): Response {
  const { app, principal } = input;
  const hub = parts.options.notices;
  const { agents, user } = principal;
  if (hub === undefined) throw withoutHub();
  // Notices are about all agents.
  if (user === undefined || agents !== undefined) throw withoutUser();
  return sentEvents(parts, input, (encoding, signal) =>
    // Subscribed at once: what is sent before the first look is not lost.
    told(hub.subscribe(app.tenant, user, { signal }), encoding),
  );
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
