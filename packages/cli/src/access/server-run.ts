import {
  type AdjutantClient,
  isServerProblem,
  type NewRun,
  type ServerAgent,
} from '@adjutant/server/client';
import type { Event } from 'adjutant';
import { defined } from 'adjutant/text';
import { validateResumeState } from 'adjutant/views';
import type { RunContext } from '../actions/carry-out.ts';
import { assistantName } from '../app/agent.ts';
import { canBegin } from '../app/named-session.ts';
import { UsageError } from '../failure.ts';
import { openClient } from './open-client.ts';
import type { RemoteOptions, ServerFlags } from './server-flags.ts';
import { eventsOf, namedOnServer } from './server-session.ts';
import { showRun, type WatchedRun } from './show-server-run.ts';

export interface RemoteContext extends RunContext {
  readonly options: RunContext['options'] & RemoteOptions<ServerFlags>;
}

interface OfLane {
  readonly lane?: string;
}

/** `adjutant run "goal" --server <url>`: runs an agent of the server, and shows the run. */
export async function runRemotely(
  context: RemoteContext,
  goal: string,
  named: string | undefined,
): Promise<number> {
  const { host, options } = context;
  const client = await openClient(host, options);
  const session = named === undefined ? undefined : await namedOnServer(client, named, canBegin);
  const { server, lane } = options;
  const agent =
    options.agent ??
    (await answeringAgent(client, await client.agents.list(), { server, session })).name;
  return showRun(context, client, () =>
    startedRun(client, { agent, input: goal, ...defined({ session, lane }) }),
  );
}

/** Starts a run of a server. A session that does not exist is made. */
export async function startedRun(client: AdjutantClient, run: NewRun): Promise<WatchedRun> {
  const before = run.session === undefined ? [] : await eventsOrNew(client, run.session);
  const { session, id } = await client.runs.start(run).accepted();
  return { session, run: id, before };
}

/** `adjutant resume [session] --server <url>`: continues the open run, and shows it. */
export async function resumeRemotely(context: RemoteContext, named: string): Promise<number> {
  const ofLane = defined({ lane: context.options.lane });
  const client = await openClient(context.host, context.options);
  const session = await namedOnServer(client, named);
  return showRun(context, client, async () => {
    const before = await eventsOf(client, session);
    const run = waitingRun(before, context.host.clock.now(), ofLane);
    if (run !== undefined && !(await isAnswered(client, session, before, ofLane)))
      return { session, run, before, isAtRest: true };
    const { id } = await client.sessions.continue(session, ofLane);
    return { session, run: id, before };
  });
}

/** The run that waits for an answer, a message or an instant, and has not been paused. */
function waitingRun(events: readonly Event[], now: number, ofLane: OfLane): string | undefined {
  const state = validateResumeState(events, ofLane);
  const { openRun, pendingCalls, awaitingInput, sleepsUntil } = state;
  if (openRun === undefined) return undefined;
  const last = events.findLast(
    (event) =>
      'invocationId' in event && event.invocationId === openRun && event.type !== 'decision',
  );
  const isAtRest = last?.type === 'invocation_yield' && last.reason !== 'pause';
  const sleeps = sleepsUntil !== undefined && sleepsUntil > now;
  return isAtRest && (pendingCalls.length > 0 || awaitingInput.length > 0 || sleeps)
    ? openRun
    : undefined;
}

/** True when an answer has come that the run has not taken in. */
async function isAnswered(
  client: AdjutantClient,
  session: string,
  events: readonly Event[],
  ofLane: OfLane,
): Promise<boolean> {
  const pending = new Set<string>();
  for await (const { requestId } of client.approvals.list({ session })) pending.add(requestId);
  const { pendingCalls } = validateResumeState(events, ofLane);
  return pendingCalls.some(({ requestId }) => !pending.has(requestId));
}

/** Circumstances by which the agent is chosen that answers on a server. */
interface AgentOnServer {
  readonly server: string;
  /** Name of the wanted agent. */
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
}

/**
 * Returns the agent that answers: the wanted one, else that of the session's last run, else the
 * usual one of the server.
 * @throws ServerProblemError, UsageError
 */
export async function answeringAgent(
  client: AdjutantClient,
  agents: readonly ServerAgent[],
  { server, agent, session }: AgentOnServer,
): Promise<ServerAgent> {
  if (agent !== undefined) return client.agents.get(agent);
  const last = session === undefined ? undefined : await lastAgent(client, session);
  return agents.find(({ name }) => name === last) ?? usualAgent(agents, server);
}

/** Name of the agent of the session's last run. `undefined`: there is none. */
async function lastAgent(client: AdjutantClient, session: string): Promise<string | undefined> {
  try {
    return (await client.sessions.get(session)).agent;
  } catch (error) {
    if (isServerProblem(error, 'session_not_found')) return undefined;
    throw error;
  }
}

/** The agent to run without `--agent`. @throws UsageError when there are several to choose from */
function usualAgent(agents: readonly ServerAgent[], server: string): ServerAgent {
  const usual = agents.find(({ name }) => name === assistantName);
  const [only, ...others] = agents;
  if (usual !== undefined) return usual;
  if (only !== undefined && others.length === 0) return only;
  const names = agents.map(({ name }) => name);
  const reason =
    names.length === 0
      ? `${server} has no agents.`
      : `${server} has several agents: ${names.join(', ')}. Name one with --agent.`;
  throw new UsageError({ reason });
}

/** Returns the events of a session. A session that does not exist is created. */
async function eventsOrNew(client: AdjutantClient, session: string): Promise<readonly Event[]> {
  try {
    return await eventsOf(client, session);
  } catch (error) {
    if (!isServerProblem(error, 'session_not_found')) throw error;
    await client.sessions.create({ id: session });
    return eventsOf(client, session);
  }
}
