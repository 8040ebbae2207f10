import type { z } from '@hono/zod-openapi';
import { isAdjutantError, type JsonValue, type Run, type Runnable } from 'adjutant';
import { unauthenticated } from '../access/authenticate.ts';
import { ledgersOf, withLargeValues } from '../http/large-values.ts';
import { isBegunBefore, newId } from '../http/new-id.ts';
import type { AddRoutes, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { addressOf, reachableAgent, reachableSession, readReachable } from '../http/reachable.ts';
import { addRoute, defineRoute, type Reply, type RouteInput } from '../http/route.ts';
import { runsOf } from '../runs/known-runs.ts';
import { noUse } from '../runs/model-use.ts';
import { type RunView, runAtRest } from '../runs/run-view.ts';
import type { RunOutline } from '../runs/session-runs.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import {
  newRunOfSessionSchema,
  newRunSchema,
  type RunAnswer,
  type RunOutlineAnswer,
  runPageSchema,
  runPathSchema,
  runQuerySchema,
  runSchema,
  runsQuerySchema,
  type StartedRun,
  startedRunSchema,
} from '../schemas/run.ts';
import { reasonSchema } from '../schemas/session.ts';
import type { HeldPlace } from '../stream/open-streams.ts';
import { streamRun } from '../stream/stream-response.ts';
import { ownUser } from './sessions.ts';

const tag = 'Runs';

type AnyInput = RouteInput<unknown, unknown, unknown>;
type NewRun = z.infer<typeof newRunOfSessionSchema>;

const accepted = {
  description: 'What was asked for is stored, and carried out in the background',
  schema: startedRunSchema,
  headers: { Location: 'Address of the run.' },
};
const streamed = {
  description: 'The stream of the run, for those who accept `text/event-stream`',
  contentType: 'text/event-stream',
};
const startText =
  'It goes on when nobody listens, and in another process when this one ends. With ' +
  '`Accept: text/event-stream` the answer is the stream of the run. ' +
  'When the session has an open run of the agent, the input is a message to it; when it ' +
  'has one of another agent, it is busy (409).';

const startRun = defineRoute({
  method: 'post',
  path: '/v1/runs',
  permission: 'operate',
  operationId: 'startRun',
  tag,
  summary: 'Starts a run, in a new session or in one that exists',
  description: startText,
  body: newRunSchema,
  answers: { 200: streamed, 202: accepted },
});

const startRunInSession = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/runs',
  permission: 'operate',
  operationId: 'startRunInSession',
  tag,
  summary: 'Starts a run in a session',
  description: startText,
  params: sessionPathSchema,
  body: newRunOfSessionSchema,
  answers: { 200: streamed, 202: accepted },
});

const listRuns = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/runs',
  permission: 'read',
  operationId: 'listRuns',
  tag,
  summary: 'The runs of a session, newest first',
  params: sessionPathSchema,
  query: runsQuerySchema,
  answers: { 200: { description: 'A page of runs', schema: runPageSchema } },
});

const getRun = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/runs/{run}',
  permission: 'read',
  operationId: 'getRun',
  tag,
  summary: 'One run, now or once it rests',
  description:
    'With `wait` it is answered as soon as the run has ended or waits for somebody. The ' +
    'run goes on whatever becomes of the request.',
  params: runPathSchema,
  query: runQuerySchema,
  answers: { 200: { description: 'The run', schema: runSchema } },
});

const cancelRun = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/runs/{run}/cancel',
  permission: 'operate',
  operationId: 'cancelRun',
  tag,
  summary: 'Cancels this run and no other',
  description:
    'The call of the model and the tools are aborted, and the ledger says who wanted it. ' +
    'GET the run with `wait` for its end.',
  params: runPathSchema,
  body: reasonSchema,
  isBodyOptional: true,
  answers: {
    202: { description: 'The wish is stored, and heeded within a second', schema: runSchema },
  },
});

/** Runs: started, listed, looked at, waited for and cancelled. */
export const addRunRoutes: AddRoutes = (api, parts) => {
  addRoute(api, startRun, async (input) => {
    const { body } = input;
    const agent = reachableAgent(input, body.agent);
    return withRoom(parts, input, async (place) =>
      start(parts, input, { agent, session: await sessionFor(input, body), asked: body, place }),
    );
  });
  addRoute(api, startRunInSession, async (input) => {
    const { body } = input;
    const { id: session } = await reachableSession(input, input.params.session);
    const agent = reachableAgent(input, body.agent);
    return withRoom(parts, input, (place) =>
      start(parts, input, { agent, session, asked: body, place }),
    );
  });
  addRoute(api, listRuns, async (input) => {
    const { limit, cursor = Number.POSITIVE_INFINITY } = input.query;
    const { all } = await readReachable(input, input.params.session, ({ id }) =>
      runsOf(parts.replays, { app: input.app, session: id }),
    );
    const older = all.filter(({ startSeq }) => startSeq < cursor).toReversed();
    const page = older.slice(0, limit);
    const next = older.length > limit ? page.at(-1) : undefined;
    return {
      status: 200,
      body: {
        runs: page.map(outlineAnswer),
        ...(next === undefined ? {} : { cursor: String(next.startSeq) }),
      },
    };
  });
  addRoute(api, getRun, async (input) => {
    const { app, params, query } = input;
    return readReachable(input, params.session, async ({ id: session }) => {
      const { signal, assertAccepted, end } = patience(parts, input, query.wait);
      try {
        const view = await runAtRest(
          { app, session, run: params.run, replays: parts.replays },
          signal,
        );
        assertAccepted();
        return { status: 200, body: await runAnswer(input, session, view) };
      } finally {
        end();
      }
    });
  });
  addRoute(api, cancelRun, async (input) => {
    const { app, params, body, principal } = input;
    const { id: session } = await reachableSession(input, params.session);
    const view = await runAtRest(
      { app, session, run: params.run, replays: parts.replays },
      AbortSignal.abort(),
    );
    // The request was begun before, and may be what has ended it.
    if (view.outline?.endedAt === undefined || !isBegunBefore(input)) {
      const runId = cancellable(view, params.run);
      await app.cancel(session, {
        runId,
        by: principal.actor,
        ...(body.reason === undefined ? {} : { reason: body.reason }),
      });
    }
    return { status: 202, body: await runAnswer(input, session, view) };
  });
};

/**
 * The session that a run is to be in: the one that is named, or a new one, which comes into being
 * with the run.
 */
async function sessionFor(input: AnyInput, { session, user: named }: z.infer<typeof newRunSchema>) {
  if (session !== undefined) return (await reachableSession(input, session)).id;
  const user = ownUser(input, { user: named, scopes: undefined });
  const id = newId(input, 'session');
  const [made] = (await input.app.sessions.list({ id, limit: 1 })).sessions;
  // The request was begun before.
  if (made !== undefined) return id;
  return input.app.sessions.open({ id, ...(user === undefined ? {} : { userId: user }) });
}

interface Start {
  readonly agent: Runnable;
  readonly session: string | Awaited<ReturnType<typeof sessionFor>>;
  readonly asked: NewRun;
  readonly place: HeldPlace | undefined;
}

/** The request ends and the run does not: its signal is not the run's. */
function start(
  parts: ServerParts,
  input: AnyInput,
  { agent, session, asked, place }: Start,
): Promise<Reply<StartedRun> | Response> {
  const runId = asked.id ?? newId(input, 'run');
  const run = input.app.run(agent, {
    session,
    runId,
    ...(asked.input === undefined ? {} : { input: asked.input }),
    ...(asked.data === undefined ? {} : { data: asked.data as JsonValue }),
  });
  parts.metrics.runStarted(agent.name, run);
  return startedAnswer(parts, input, run, { runId, place });
}

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

interface Patience {
  /** Aborted when the run is not to be waited for any longer. */
  readonly signal: AbortSignal;
  /**
   * @throws RequestRefusedError `unauthenticated` (401) when the caller's credential has ended
   * meanwhile
   */
  assertAccepted(): void;
  end(): void;
}

/**
 * Ends the waiting of a request when its time is over, its client goes away, its credential ends or
 * the server closes.
 */
function patience(
  { clock, closing, access }: ServerParts,
  { request, principal }: Pick<AnyInput, 'request' | 'principal'>,
  ms: number,
): Patience {
  if (ms === 0)
    return { signal: AbortSignal.abort(), assertAccepted: () => undefined, end: () => undefined };
  const over = new AbortController();
  const credential = access.ended(principal, over.signal);
  const cancel = clock.setTimer(ms, () => over.abort());
  const signals = [request.signal, closing, credential];
  const abort = (): void => over.abort();
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  if (signals.some(({ aborted }) => aborted)) over.abort();
  const end = (): void => {
    cancel();
    for (const signal of signals) signal.removeEventListener('abort', abort);
    over.abort();
  };
  const assertAccepted = (): void => {
    if (credential.aborted) throw unauthenticated();
  };
  return { signal: over.signal, assertAccepted, end };
}

/** @throws RequestRefusedError `run_ended`, `run_not_begun` (409) */
function cancellable({ outline }: RunView, run: string): string {
  if (outline === undefined) {
    throw new RequestRefusedError(
      409,
      'run_not_begun',
      `Run "${run}" has not begun yet. Cancel it when it has, or cancel the session.`,
      { run },
    );
  }
  const { id, status } = outline;
  if (status === 'running' || status === 'waiting') return id;
  throw new RequestRefusedError(
    409,
    'run_ended',
    `Run "${id}" has ended (${status}): there is nothing to cancel.`,
    { run: id, status },
  );
}

function outlineAnswer({
  id,
  agent,
  kind,
  status,
  waitsFor,
  error,
  stopReason,
  use,
  startedAt,
  endedAt,
}: RunOutline): RunOutlineAnswer {
  return {
    id,
    agent,
    kind: kind as RunOutlineAnswer['kind'],
    status,
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...(error === undefined ? {} : { error: { ...error } }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...use,
    startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
  };
}

async function runAnswer(
  { app, params }: RouteInput<{ run: string }, unknown, unknown>,
  session: string,
  view: RunView,
): Promise<RunAnswer> {
  const { outline, requests, output: recorded } = view;
  if (outline === undefined)
    return { id: params.run, session, status: 'accepted', requests: [], ...noUse };
  const { output } = await withLargeValues(
    { output: recorded },
    { ledgers: ledgersOf(app), session },
  );
  const asked = requests as unknown as RunAnswer['requests'];
  return {
    ...outlineAnswer(outline),
    session,
    requests: asked,
    ...(output === undefined ? {} : { output }),
  };
}
