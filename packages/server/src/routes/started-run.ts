import { isAdjutantError, type Run } from 'adjutant';
import type { ServerParts } from '../http/parts.ts';
import { addressOf } from '../http/reachable.ts';
import type { Reply, RouteInput } from '../http/route.ts';
import type { StartedRun } from '../schemas/run.ts';
import type { HeldPlace } from '../stream/open-streams.ts';
import { streamRun } from '../stream/stream-response.ts';

type AnyInput = RouteInput<unknown, unknown, unknown>;

/**
 * Answers with a run once what it was asked for is stored: with its stream, if the caller wants
 * that.
 */
export async function startedAnswer(
  parts: ServerParts,
  input: AnyInput,
  run: Run,
  { runId, place }: { readonly runId?: string; readonly place: HeldPlace | undefined },
): Promise<Reply<StartedRun> | Response> {
  const { session, runId: id } = await run.accepted();
  run.catch((error: unknown) => reportFailure(parts, input, error));
  const asked = runId ?? id;
  const home = addressOf(session);
  const address = `${home}/runs/${encodeURIComponent(id)}`;
  const headers = { location: `${home}/runs/${encodeURIComponent(asked)}` };
  if (place !== undefined) return streamRun(parts, input, { session, run: id }, { headers, place });
  const links = {
    run: headers.location,
    stream: `${address}/stream`,
    cancel: `${address}/cancel`,
    session: home,
    events: `${home}/events`,
  };
  return { status: 202, body: { session, id, asked, status: 'accepted', links }, headers };
}

/**
 * Starts what may be answered with a stream: nothing is stored before the stream has a place.
 * @param make is given the place if the caller wants a stream
 */
export async function withRoom<Made>(
  { streams }: Pick<ServerParts, 'streams'>,
  { principal, request }: Pick<AnyInput, 'principal' | 'request'>,
  make: (place: HeldPlace | undefined) => Promise<Made>,
): Promise<Made> {
  return wantsStream(request) ? streams.holding(principal, make) : make(undefined);
}

function wantsStream({ headers }: Request): boolean {
  return (headers.get('accept') ?? '').includes('text/event-stream');
}

/** Error codes of a run that ends here when another process goes on with it, or none can. */
const goesOnElsewhere = ['run_stopped', 'session_deleted', 'ledger_conflict'];

/**
 * Reports the fault that keeps an accepted run from being carried out here. It is no fault that
 * this process closes, or that another one has taken the run over.
 */
export function reportFailure(
  { options, closing }: ServerParts,
  { requestId, request }: AnyInput,
  error: unknown,
): void {
  if (closing.aborted || goesOnElsewhere.some((code) => isAdjutantError(error, code))) return;
  options.onError(error, {
    id: requestId,
    method: request.method,
    path: new URL(request.url).pathname,
  });
}
