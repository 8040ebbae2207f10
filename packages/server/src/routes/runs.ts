import type { z } from '@hono/zod-openapi';
import type { JsonValue, Runnable } from 'adjutant';
import { defined } from 'adjutant/text';
import { isBegunBefore, newId } from '../http/new-id.ts';
import type { AddRoutes, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { reachableAgent, reachableSession, readReachable } from '../http/reachable.ts';
import { addRoute, defineRoute, type Reply, type RouteInput } from '../http/route.ts';
import { runsOf } from '../runs/known-runs.ts';
import { type RunView, runAtRest } from '../runs/run-view.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import {
  newRunOfSessionSchema,
  newRunSchema,
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
import { outlineAnswer, restedRun, runAnswer } from './run-answer.ts';
import { ownUser } from './sessions.ts';
import { startedAnswer, withRoom } from './started-run.ts';

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
  'When the lane has an open run of the agent, the input is a message to it; when it ' +
  'has one of another agent, the session is busy (409).';

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
  permission: 'chat',
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

const addStartRun: AddRoutes = (api, parts) => {
  addRoute(api, startRun, async (input) => {
    const { body } = input;
    const agent = reachableAgent(input, body.agent);
    return withRoom(parts, input, async (place) =>
      start(parts, input, { agent, session: await sessionFor(input, body), asked: body, place }),
    );
  });
};

const addStartRunInSession: AddRoutes = (api, parts) => {
  addRoute(api, startRunInSession, async (input) => {
    const { body } = input;
    const { id: session } = await reachableSession(input, input.params.session);
    const agent = reachableAgent(input, body.agent);
    return withRoom(parts, input, (place) =>
      start(parts, input, { agent, session, asked: body, place }),
    );
  });
};

const addListRuns: AddRoutes = (api, parts) => {
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
};

const addGetRun: AddRoutes = (api, parts) => {
  addRoute(api, getRun, async (input) => {
    return readReachable(input, input.params.session, async ({ id: session }) => {
      const body = await restedRun(parts, input, session);
      return { status: 200, body };
    });
  });
};

const addCancelRun: AddRoutes = (api, parts) => {
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
        ...defined({ reason: body.reason }),
      });
    }
    return { status: 202, body: await runAnswer(input, session, view) };
  });
};

/** Runs: started, listed, looked at, waited for and cancelled. */
export const addRunRoutes: AddRoutes = (api, parts) => {
  for (const add of [addStartRun, addStartRunInSession, addListRuns, addGetRun, addCancelRun])
    add(api, parts);
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
  return input.app.sessions.open({ id, ...defined({ userId: user }) });
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
    ...defined({
      input: asked.input,
      data: asked.data as JsonValue | undefined,
      lane: asked.lane,
    }),
  });
  parts.metrics.runAsked(agent.name, runId, run);
  return startedAnswer(parts, input, run, { runId, place });
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
