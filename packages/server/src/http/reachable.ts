import { nearestName, type Runnable, type SessionListing, SessionNotFoundError } from 'adjutant';
import { RequestRefusedError } from './problem.ts';
import type { RouteInput } from './route.ts';

/** Who asks, and of which app. */
export type Asking = Pick<RouteInput<unknown, unknown, unknown>, 'app' | 'principal'>;

/**
 * A session that the caller may know of, as the list of sessions has it: of its tenant; of its user, if it is bound to one; and without a run yet
 * or with a last run of one of its agents, if it is bound to some. The ledger is not read.
 * @throws SessionNotFoundError also for sessions that are out of reach: they are not there
 */
export async function reachableSession(input: Asking, id: string): Promise<SessionListing> {
  const { sessions } = await input.app.sessions.list({ id, limit: 1 });
  const [listing] = sessions;
  if (listing === undefined || !isReachable(input, listing)) throw new SessionNotFoundError({ session: id, app: input.app.app });
  return listing;
}

/** Whether the caller may know of a session of its tenant. */
export function isReachable({ principal }: Pick<Asking, 'principal'>, { user, runnable }: Pick<SessionListing, 'user' | 'runnable'>): boolean {
  if (principal.user !== undefined && user !== principal.user) return false;
  return runnable === undefined || isAgentInReach({ principal }, runnable);
}

/** Whether the caller may know of what has this name. */
export function isAgentInReach({ principal: { agents } }: Pick<Asking, 'principal'>, name: string): boolean {
  return agents === undefined || agents.includes(name);
}

/** The runnables of the app that the caller may know of. */
export function reachableAgents(input: Asking): readonly Runnable[] {
  return input.app.runnables.filter(({ name }) => isAgentInReach(input, name));
}

/**
 * What has this name and may be run by the caller.
 * @throws RequestRefusedError `agent_not_found` (404), with the nearest name of those in reach
 */
export function reachableAgent(input: Asking, name: string): Runnable {
  const agents = reachableAgents(input);
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const names = agents.map((agent) => agent.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? 'GET /v1/agents lists what there is' : `did you mean "${nearest}"?`;
  throw new RequestRefusedError(404, 'agent_not_found', `There is no agent named "${name}" (${hint}).`, nearest === undefined ? {} : { nearest });
}
