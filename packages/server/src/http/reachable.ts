import type { Runnable, SessionListing } from 'adjutant';
import { SessionNotFoundError } from 'adjutant/errors';
import { defined, nearestName } from 'adjutant/text';
import { RequestRefusedError } from './problem.ts';
import type { RouteInput } from './route.ts';
import { agentsOf } from './session-agents.ts';

/** Caller of a request, and the app. */
export type Asking = Pick<RouteInput<unknown, unknown, unknown>, 'app' | 'principal'>;

/**
 * A session that the caller may know of, as the list of sessions has it: of its tenant; of its
 * user, if it is bound to one; and with runs of its agents only, if it is bound to some. The ledger
 * is read for those alone.
 * @throws SessionNotFoundError also for sessions that are out of reach: they are not there
 */
export async function reachableSession(input: Asking, id: string): Promise<SessionListing> {
  const { sessions } = await input.app.sessions.list({ id, limit: 1 });
  const [listing] = sessions;
  if (listing === undefined || !(await isReachable(input, listing)))
    throw new SessionNotFoundError({ session: id, app: input.app.app });
  return listing;
}

/**
 * Reads from a session that the caller may know of. A run of another agent that begins meanwhile
 * takes the session and the reading out of reach.
 * @throws the errors of `read`, SessionNotFoundError
 */
export async function readReachable<Read>(
  input: Asking,
  id: string,
  read: (session: SessionListing) => Promise<Read>,
): Promise<Read> {
  const found = await read(await reachableSession(input, id));
  if (input.principal.agents !== undefined) await reachableSession(input, id);
  return found;
}

/**
 * True when the caller may know of a session of its tenant. A caller bound to agents may while all
 * runs of the session are of these. Before its first run, a session belongs to its user, or else to
 * its maker.
 */
export async function isReachable(
  { app, principal }: Asking,
  listing: SessionListing,
): Promise<boolean> {
  const { user, agents, actor } = principal;
  if (user !== undefined && listing.user !== user) return false;
  if (agents === undefined) return true;
  if (listing.runnable !== undefined && !agents.includes(listing.runnable)) return false;
  const { runs, isUnreadable, maker } = await agentsOf(app, listing);
  if (isUnreadable) return false;
  return runs.size === 0
    ? user !== undefined || maker === actor
    : [...runs.values()].every((name) => agents.includes(name));
}

/** True when the caller may know of the agent with this name. */
export function isAgentInReach(
  { principal: { agents } }: Pick<Asking, 'principal'>,
  name: string,
): boolean {
  return agents === undefined || agents.includes(name);
}

/** The runnables of the app that the caller may know of. */
export function reachableAgents(input: Asking): readonly Runnable[] {
  return input.app.runnables.filter(({ name }) => isAgentInReach(input, name));
}

/**
 * Returns the runnable of this name if the caller may run it.
 * @throws RequestRefusedError `agent_not_found` (404), with the nearest name of those in reach
 */
export function reachableAgent(input: Asking, name: string): Runnable {
  const agents = reachableAgents(input);
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const names = agents.map((agent) => agent.name);
  const nearest = nearestName(name, names);
  const hint =
    nearest === undefined ? 'GET /v1/agents lists what there is' : `did you mean "${nearest}"?`;
  throw new RequestRefusedError(
    404,
    'agent_not_found',
    `There is no agent named "${name}" (${hint}).`,
    defined({ nearest }),
  );
}

/** Address of a session, below that of the server. */
export function addressOf(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`;
}
