import { isDurable, type Runtime } from 'adjutant';
import type { Principal } from '../../access/principal.ts';
import { ledgersOf, withLargeValues } from '../../http/large-values.ts';
import type { ServerParts } from '../../http/parts.ts';
import { problemOf } from '../../http/problem.ts';
import { addressOf } from '../../http/reachable.ts';
import { eventStream } from '../event-stream.ts';
import type { SentFrame } from '../frame.ts';
import type { HeldPlace } from '../open-streams.ts';
import { brokenFrame, streamEndings, streamHeaders } from '../stream-response.ts';
import { withinReach } from '../within-reach.ts';
import { type AnswerSubject, AnswerTeller } from './answer-teller.ts';
import type { UiChunk } from './chunk.ts';

/** An answer of a session, to be told. */
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
export function chatResponse(parts: ServerParts, { principal, request, requestId }: Reader, subject: ChatSubject, place: HeldPlace): Response {
  const { clock, metrics, options } = parts;
  const answer = { status: 200, headers: { ...streamHeaders, 'x-vercel-ai-ui-message-stream': 'v1', location: addressOf(subject.session) } };
  if (request.method === 'HEAD') {
    place();
    return new Response(null, answer);
  }
  const body = eventStream((signal) => tellAnswer(subject, signal), {
    clock,
    encode: encodedChunk,
    endings: (whileOpen) => streamEndings(parts, principal, whileOpen),
    heartbeat: options.stream.heartbeat,
    onClose: place,
    onSent: (frames) => {
      for (let i = 0; i < frames; i++) metrics.eventSent('sse');
    },
    problem: (error) => {
      brokenFrame(parts, error, { id: requestId, method: request.method, path: new URL(request.url).pathname });
      return frameOf({ type: 'error', errorText: problemOf(error, requestId).detail });
    },
  });
  return new Response(body, answer);
}

async function* tellAnswer(subject: ChatSubject, signal: AbortSignal): AsyncGenerator<readonly SentFrame[], void, undefined> {
  const { app, session, after } = subject;
  const ledgers = ledgersOf(app);
  const teller = new AnswerTeller(subject);
  for await (const event of withinReach(app.follow(session, { after, signal }), subject)) {
    const { chunks, isOver } = teller.tell(isDurable(event) ? await withLargeValues(event, ledgers) : event);
    if (chunks.length > 0) yield chunks.map(frameOf);
    if (!isOver) continue;
    yield [done];
    return;
  }
  // A stream that merely ended would be taken for the whole answer.
  yield [frameOf({ type: 'error', errorText: 'The stream was interrupted. The run goes on: resume the stream.' })];
}

function frameOf(chunk: UiChunk): SentFrame {
  return { event: chunk.type, data: chunk };
}

function encodedChunk(frame: SentFrame): string {
  return `data: ${frame === done ? '[DONE]' : JSON.stringify(frame.data)}\n\n`;
}
