import type { Runtime } from 'adjutant';
import type { Principal } from '../../access/principal.ts';
import { ledgersOf, withLargeValues } from '../../http/large-values.ts';
import type { ServerParts } from '../../http/parts.ts';
import { problemOf } from '../../http/problem.ts';
import { addressOf } from '../../http/reachable.ts';
import { eventEncoding, eventStream } from '../event-stream.ts';
import type { SentFrame } from '../frame.ts';
import type { HeldPlace } from '../open-streams.ts';
import type { Telling } from '../replay/telling.ts';
import { toldStream } from '../replay/told-stream.ts';
import { brokenFrame, streamEndings, streamHeaders } from '../stream-response.ts';
import {
  type AnswerState,
  type AnswerSubject,
  startOfAnswer,
  tellAnswer,
} from './answer-teller.ts';
import type { UiChunk } from './chunk.ts';

/** Answer of a session that is to be streamed. */
export interface ChatSubject extends AnswerSubject {
  readonly app: Runtime;
  readonly session: string;
  /** The agents that the reader is bound to. `undefined`: all. */
  readonly agents: readonly string[] | undefined;
  /** `seq` behind which the run of the answer begins. */
  readonly after: number;
}

interface Reader {
  readonly principal: Principal;
  readonly request: Request;
  readonly requestId: string;
}

const done: SentFrame = { event: 'done', data: {} };

/** Answers with the UI message stream of the AI SDK, in the place that was held for it. */
export function chatResponse(
  parts: ServerParts,
  { principal, request, requestId }: Reader,
  subject: ChatSubject,
  place: HeldPlace,
): Response {
  const { clock, metrics, options, replays } = parts;
  const answer = {
    status: 200,
    headers: {
      ...streamHeaders,
      'x-vercel-ai-ui-message-stream': 'v1',
      location: addressOf(subject.session),
    },
  };
  if (request.method === 'HEAD') {
    place();
    return new Response(null, answer);
  }
  const { app, session, agents, after } = subject;
  const telling = answerTelling(subject);
  const told = {
    app,
    session,
    agents,
    replays,
    principal,
    telling,
    place: { seq: after, state: telling.start },
    interrupted,
  };
  const body = eventStream((encoding, signal) => toldStream(told, encoding, signal), {
    clock,
    encoding: chunkEncoding,
    endings: (whileOpen) => streamEndings(parts, principal, whileOpen),
    heartbeatMs: options.stream.heartbeatMs,
    onClose: place,
    onSent: (frames) => {
      for (let i = 0; i < frames; i++) metrics.eventSent('sse');
    },
    problem: (error) => {
      brokenFrame(parts, error, {
        id: requestId,
        method: request.method,
        path: new URL(request.url).pathname,
      });
      return frameOf({ type: 'error', errorText: problemOf(error, requestId).detail });
    },
  });
  return new Response(body, answer);
}

/** Answers with the same chunks have one name. */
function answerTelling({
  app,
  session,
  agents: _agents,
  after: _after,
  ...subject
}: ChatSubject): Telling<AnswerState> {
  const from = { ledgers: ledgersOf(app), session };
  return {
    name: `answer ${JSON.stringify(subject)}`,
    start: startOfAnswer(subject),
    prepare: (event) => withLargeValues(event, from),
    tell: (before, event) => {
      const { state, chunks, isOver } = tellAnswer(subject, before, event);
      const frames = chunks.map(frameOf);
      return isOver ? { state, frames: [...frames, done], isOver } : { state, frames };
    },
  };
}

function frameOf(chunk: UiChunk): SentFrame {
  return { event: chunk.type, data: chunk };
}

const chunkEncoding = eventEncoding(
  'chunks of a chat',
  (frame) => `data: ${frame === done ? '[DONE]' : JSON.stringify(frame.data)}\n\n`,
);

/** A stream that merely ended would be taken for the whole answer. */
const interrupted: SentFrame = frameOf({
  type: 'error',
  errorText: 'The stream was interrupted. The run goes on: resume the stream.',
});
