import { isAdjutantError } from 'adjutant';
import { ledgersOf } from '../http/large-values.ts';
import type { AddRoutes } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { type Asking, reachableSession, readReachable } from '../http/reachable.ts';
import { addRoute, defineRoute } from '../http/route.ts';
import { runIdPathSchema, runQuerySchema, runSchema } from '../schemas/run.ts';
import { restedRun } from './run-answer.ts';

/** Sessions that are looked through for those that the caller may know of. */
const mostSessions = 100;

const findRun = defineRoute({
  method: 'get',
  path: '/v1/runs/{run}',
  permission: 'read',
  operationId: 'findRun',
  tag: 'Runs',
  summary: 'One run by its id alone, now or once it rests',
  description:
    'As GET /v1/sessions/{session}/runs/{run}, for callers who do not know the session: the ' +
    'answer has it. A run is found once it has begun. Ids that callers give may occur in several ' +
    'sessions: then 409 `run_ambiguous` names them.',
  params: runIdPathSchema,
  query: runQuerySchema,
  answers: { 200: { description: 'The run', schema: runSchema } },
});

/** The run whose session the caller does not name. */
export const addRunLookupRoutes: AddRoutes = (api, parts) => {
  addRoute(api, findRun, async (input) => {
    const session = await onlySession(input, input.params.run);
    return readReachable(input, session, async ({ id }) => {
      const body = await restedRun(parts, input, id);
      return { status: 200, body };
    });
  });
};

/**
 * The session that a run began in, of those that the caller may know of.
 * @throws RequestRefusedError `run_not_found` (404), `run_ambiguous` (409),
 * `run_lookup_unavailable` (501)
 */
async function onlySession(input: Asking, run: string): Promise<string> {
  const [session, ...others] = await reachableSessions(input, run);
  if (session === undefined)
    throw new RequestRefusedError(404, 'run_not_found', 'No run of this id has begun.');
  if (others.length === 0) return session;
  const sessions = [session, ...others];
  throw new RequestRefusedError(
    409,
    'run_ambiguous',
    `Runs "${run}" have begun in ${sessions.length} sessions. Ask for one of them at ` +
      '/v1/sessions/{session}/runs/{run}.',
    { run, sessions },
  );
}

async function reachableSessions(input: Asking, run: string): Promise<readonly string[]> {
  const ledgers = ledgersOf(input.app);
  if (ledgers.sessionsOfRun === undefined)
    throw new RequestRefusedError(
      501,
      'run_lookup_unavailable',
      'The store of this server cannot find the session of a run. Ask for the run at ' +
        '/v1/sessions/{session}/runs/{run}.',
      { run },
    );
  const found: string[] = [];
  for (const session of await ledgers.sessionsOfRun(run, { limit: mostSessions }))
    if (await isInReach(input, session)) found.push(session);
  return found;
}

async function isInReach(input: Asking, session: string): Promise<boolean> {
  try {
    await reachableSession(input, session);
    return true;
  } catch (error) {
    if (isAdjutantError(error, 'session_not_found')) return false;
    throw error;
  }
}
