import { type AdjutantClient, isServerProblem } from '@adjutant/server/client';
import {
  type Event,
  type PendingRequest,
  type RunResult,
  type Session,
  session as sessionInMemory,
} from 'adjutant';
import { defined } from 'adjutant/text';
import { confidenceOf, runReport, validateResumeState } from 'adjutant/views';
import { foundSession, type NamedSessions } from '../app/named-session.ts';
import { laneOf, runOf } from '../app/open-run.ts';
import { UsageError } from '../failure.ts';

/** Returns the events of a session of a server, with their large values. */
export async function eventsOf(
  client: AdjutantClient,
  session: string,
  upTo?: number,
): Promise<Event[]> {
  const events: Event[] = [];
  const options = { values: 'full' as const, ...defined({ upTo }) };
  for await (const event of client.sessions.events(session, options)) {
    if (event.type === 'unreadable')
      throw new UsageError({
        reason: `Event ${event.seq} of session "${session}" cannot be read: ${event.reason}.`,
      });
    events.push(event);
  }
  return events;
}

/**
 * Returns the id of the session of a server that is named: by its id, by an ending that no other
 * has, or by `last`. A text that names none is returned as it is.
 */
export async function namedOnServer(
  client: AdjutantClient,
  text: string,
  isMeant?: (id: string) => boolean,
): Promise<string> {
  const sessions: NamedSessions = {
    has: (id) => isThere(client, id),
    newest: async () => (await client.sessions.list({ limit: 1 }).page()).sessions[0]?.id,
    async *ids() {
      for await (const { id } of client.sessions.list()) yield id;
    },
  };
  const found = await foundSession(sessions, text, isMeant);
  if (found === undefined && text === 'last' && isMeant === undefined)
    throw new UsageError({ reason: 'The server has no sessions yet.' });
  return found ?? text;
}

async function isThere(client: AdjutantClient, id: string): Promise<boolean> {
  try {
    await client.sessions.get(id);
    return true;
  } catch (error) {
    if (isServerProblem(error, 'session_not_found')) return false;
    throw error;
  }
}

/**
 * Returns a session of a server for reading. Views of it are folded from its events, as for any
 * other session.
 */
export function sessionOf(id: string, events: readonly Event[]): Promise<Session> {
  return sessionInMemory.fromSnapshot({ app: 'server', id, events });
}

/** Returns an event of a stream with its large values, which the stream replaces by references. */
export async function withLargeValues(
  client: AdjutantClient,
  session: string,
  event: Event,
): Promise<Event> {
  // Text that only looks like a reference is escaped, and needs the same request.
  if (!/"\$+blob"/.test(JSON.stringify(event))) return event;
  const { events } = await client.sessions.eventPage(session, {
    after: event.seq - 1,
    limit: 1,
    values: 'full',
  });
  return (events[0] as Event | undefined) ?? event;
}

/** True for the root invocation of the run, and for the targets of its handoffs. */
function isRootOf(run: string, invocationId: string | undefined): boolean {
  return (
    invocationId !== undefined &&
    (invocationId === run || invocationId.startsWith(`${run}>`)) &&
    !invocationId.includes('/')
  );
}

/** True when this event ends the run or makes it wait. */
export function restsBy(run: string, event: Event): boolean {
  if (!isRootOf(run, event.invocationId)) return false;
  return (
    event.type === 'invocation_yield' ||
    (event.type === 'invocation_end' && event.next === undefined)
  );
}

/** Returns the result of a run as the app that runs it would report it. */
export function resultOf(session: Session, runId: string): RunResult {
  const { events } = session;
  const last = events.findLast((event) => restsBy(runId, event));
  const end = last?.type === 'invocation_end' ? last : undefined;
  const { awaitingInput, sleepsUntil } = validateResumeState(
    events,
    defined({ lane: laneOf(events, runId) }),
  );
  const waiting: readonly PendingRequest[] =
    end === undefined
      ? session.pendingYieldingCalls.filter(({ invocationId }) => runOf(invocationId) === runId)
      : [];
  return {
    ...runReport(events, runId),
    status: end === undefined ? 'yielded' : end.status === 'transferred' ? 'completed' : end.status,
    output: end?.output,
    confidence: confidenceOf(events, runId),
    error: end?.error,
    stopReason: end?.stopReason,
    pendingCalls: waiting,
    pendingApprovals: waiting.filter(({ kind }) => kind === 'approval' || kind === 'repeat'),
    awaitingInput: end === undefined && awaitingInput.length > 0,
    sleepsUntil: end === undefined ? sleepsUntil : undefined,
    yieldedInvocationId: end === undefined ? last?.invocationId : undefined,
    runId,
    session,
  };
}
