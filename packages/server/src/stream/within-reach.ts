import type { Runtime, StreamEvent } from 'adjutant';
import { SessionNotFoundError } from 'adjutant/errors';
import { agentsOf, beginsRun } from '../http/session-agents.ts';
import { runOf } from './run-state.ts';

/** Session whose events are told, and their reader. */
export interface Audience {
  readonly app: Runtime;
  readonly session: string;
  /** The agents that the reader is bound to. `undefined`: all. */
  readonly agents: readonly string[] | undefined;
}

/**
 * Events for as long as the reader may know of their session: the first run of an agent that it is
 * not bound to ends them, before anything of that run is told.
 * @throws SessionNotFoundError
 */
export function withinReach(
  events: AsyncIterable<StreamEvent>,
  { app, session, agents }: Audience,
): AsyncIterable<StreamEvent> {
  return agents === undefined ? events : ofAgents(events, { app, session, agents });
}

async function* ofAgents(
  events: AsyncIterable<StreamEvent>,
  { app, session, agents }: Audience & { readonly agents: readonly string[] },
): AsyncGenerator<StreamEvent, void, undefined> {
  const own = await ownRuns({ app, session, agents });
  // The input of a run is written before its beginning says what it is for.
  let held: StreamEvent[] = [];
  for await (const event of events) {
    if (beginsRun(event)) {
      if (!agents.includes(event.name)) throw new SessionNotFoundError({ session, app: app.app });
      own.add(event.invocationId);
    }
    held.push(event);
    if (
      held.some(({ invocationId }) => invocationId !== undefined && !own.has(runOf(invocationId)))
    )
      continue;
    yield* held;
    held = [];
  }
}

/**
 * `seq` up to which a reader may be told of the past: all that is there by then is of runs that
 * have begun.
 * @throws SessionNotFoundError when something of another agent has run in the session
 */
export async function reachOf({ app, session, agents }: Audience): Promise<number> {
  if (agents === undefined) return Number.POSITIVE_INFINITY;
  const [listing] = (await app.sessions.list({ id: session, limit: 1 })).sessions;
  const known = listing === undefined ? undefined : await agentsOf(app, listing);
  if (
    known === undefined ||
    known.isUnreadable ||
    [...known.runs.values()].some((name) => !agents.includes(name))
  ) {
    throw new SessionNotFoundError({ session, app: app.app });
  }
  return known.begunUpTo;
}

/** The runs of these agents that have begun. */
async function ownRuns({
  app,
  session,
  agents,
}: Audience & { readonly agents: readonly string[] }): Promise<Set<string>> {
  const [listing] = (await app.sessions.list({ id: session, limit: 1 })).sessions;
  const runs = listing === undefined ? [] : [...(await agentsOf(app, listing)).runs];
  return new Set(runs.flatMap(([id, name]) => (agents.includes(name) ? [id] : [])));
}
