import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from 'adjutant/ports';
import { formatDuration } from '../output/format.ts';
import { plainLine } from '../output/plain-text.ts';

interface Served {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const begins = channel('http.server.request.start');
const ends = channel('http.server.response.finish');

/** Tells of each request that a port of this process has answered, until it is ended. */
export function logRequests(
  clock: Clock,
  port: () => number,
  tell: (line: string) => void,
): () => void {
  const began = new WeakMap<IncomingMessage, number>();
  const isOurs = ({ socket }: IncomingMessage): boolean => socket.localPort === port();
  const onBegin = (message: unknown): void => {
    const { request } = message as Served;
    if (isOurs(request)) began.set(request, clock.monotonic());
  };
  const onEnd = (message: unknown): void => {
    const { request, response } = message as Served;
    const at = began.get(request);
    if (at === undefined) return;
    const [path = ''] = (request.url ?? '').split('?');
    const took = formatDuration(clock.monotonic() - at);
    // A query, and the path of a link, may be secrets.
    const shown = plainLine(path).replace(/^(\/approve\/).*/, '$1…');
    tell(`${request.method} ${shown} ${response.statusCode} ${took}`);
  };
  begins.subscribe(onBegin);
  ends.subscribe(onEnd);
  return () => {
    begins.unsubscribe(onBegin);
    ends.unsubscribe(onEnd);
  };
}
