import type { EventOf, Runtime, SessionListing, StoredEvent } from 'adjutant';
import { runOf } from '../stream/run-state.ts';

/** Facts of a ledger that decide who may know of its session. */
export interface SessionAgents {
  /** Names of the runnables that its runs began with, by the ids of the runs. */
  readonly runs: ReadonlyMap<string, string>;
  /** True when one of its events cannot be read: it may have begun a run of any agent. */
  readonly isUnreadable: boolean;
  /**
   * `seq` up to which all events are of runs that have begun: the input of a run is written before
   * its beginning says what it is for.
   */
  readonly begunUpTo: number;
  /** Actor that made the session before its first run, as ledgers name it. */
  readonly maker: string | undefined;
}

interface Known extends SessionAgents {
  readonly createdAt: number;
  /** Runs that have events and have not begun. */
  readonly waiting: ReadonlySet<string>;
  /** `seq` of the last event that was read. */
  readonly seq: number;
}

/** Sessions of an app that are remembered: a ledger only grows, so that nothing is read twice. */
const mostKnown = 10_000;
const knownOf = new WeakMap<Runtime, Map<string, Known>>();

/** Returns the runnables that the runs of a session began with, up to its last event or beyond. */
export async function agentsOf(
  app: Runtime,
  { id, seq, createdAt }: Pick<SessionListing, 'id' | 'seq' | 'createdAt'>,
): Promise<SessionAgents> {
  const known = knownOf.get(app) ?? new Map<string, Known>();
  knownOf.set(app, known);
  const before = known.get(id);
  // Another session of the same id has another beginning.
  const kept = before?.createdAt === createdAt ? before : undefined;
  if (kept !== undefined && kept.seq >= seq) return kept;
  const now = await readOn(app, id, kept);
  known.delete(id);
  known.set(id, { ...now, createdAt });
  if (known.size > mostKnown) known.delete(known.keys().next().value as string);
  return now;
}

async function readOn(
  app: Runtime,
  id: string,
  kept: Known | undefined,
): Promise<Omit<Known, 'createdAt'>> {
  const runs = new Map(kept?.runs);
  const waiting = new Set(kept?.waiting);
  let { isUnreadable = false, begunUpTo = 0, maker, seq = 0 }: Partial<Known> = kept ?? {};
  for await (const event of app.sessions.events(id, { after: seq })) {
    seq = event.seq;
    if (event.type === 'unreadable') isUnreadable = true;
    else if (beginsRun(event)) {
      runs.set(event.invocationId, event.name);
      waiting.delete(event.invocationId);
    } else if (event.invocationId === undefined) maker = makesSession(event) ? event.by : maker;
    else if (!runs.has(runOf(event.invocationId))) waiting.add(runOf(event.invocationId));
    if (waiting.size === 0) begunUpTo = seq;
  }
  return { runs, isUnreadable, begunUpTo, waiting, maker, seq };
}

/** True when an event begins a run. */
export function beginsRun(event: {
  readonly type: string;
}): event is EventOf<'invocation_start'> & { readonly invocationId: string } {
  return (
    event.type === 'invocation_start' && (event as EventOf<'invocation_start'>).mode === 'root'
  );
}

function makesSession(event: StoredEvent): event is EventOf<'decision'> {
  if (event.type !== 'decision' || event.invocationId !== undefined) return false;
  return (
    event.component === 'fork' || (event.component === 'session' && event.decision === 'create')
  );
}
