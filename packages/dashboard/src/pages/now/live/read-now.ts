import type { ServerSession, ServerTask, ServerTrigger } from '@adjutant/server/client';
import { readMadeOnly } from '../../../api/begun.ts';
import { api, refusalOf } from '../../../api/client.ts';
import { queries } from '../../../api/queries.ts';
import type { LedgerEvent } from '../../../ledger/event-pages.ts';
import { historyMs } from '../queue/queue.ts';
import type { Reading } from './reading.ts';
import type { Tail } from './tail.ts';

/** Sessions and tasks that are read at most of each kind; more are shown as "100+". */
export const mostListed = 100;
/** Sessions whose events are read, and events of each that are kept. */
const mostTails = 12;
const tailLength = 300;
/** Lists that each reading asks for. */
const lists = 10;
/**
 * Milliseconds between the beginnings of two readings for each request of the first: together they
 * stay below the 600 requests that a server allows a minute, however often things change.
 */
const gapOfRequestMs = 125;

interface KeptTail extends Tail {
  /** Place of its last event. */
  readonly next: number;
}

const tails = new Map<string, KeptTail>();
let underWay: Promise<Reading> | undefined;
let lastBegan = Number.NEGATIVE_INFINITY;
let lastRequests = lists;
let changedMeanwhile = false;

/**
 * Reads what the app does now. One reading at a time: whoever asks meanwhile gets that one, and
 * another follows, so that changes that come faster than readings cannot hold them up.
 */
export function readNow(): Promise<Reading> {
  if (underWay !== undefined) {
    changedMeanwhile = true;
    return underWay;
  }
  underWay = readInTurn().finally(() => {
    underWay = undefined;
    if (!changedMeanwhile) return;
    changedMeanwhile = false;
    setTimeout(() => void queries.invalidateQueries({ queryKey: ['now'] }), 0);
  });
  return underWay;
}

async function readInTurn(): Promise<Reading> {
  const wait = lastBegan + lastRequests * gapOfRequestMs - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  lastBegan = performance.now();
  lastRequests = lists;
  changedMeanwhile = false;
  return read();
}

async function read(): Promise<Reading> {
  const of = async (status?: ServerSession['status']): Promise<readonly ServerSession[]> =>
    (
      await api.sessions
        .list({ limit: mostListed, ...(status === undefined ? {} : { status }) })
        .page()
    ).sessions;
  const [newest, active, asking, sleeping, failed, tasks, triggers, agents, requests] =
    await Promise.all([
      ...([of(), of('active'), of('awaiting_input'), of('sleeping'), of('error')] as const),
      readTasks(),
      readTriggers(),
      orNothing(api.agents.list()),
      orNothing(
        api.approvals
          .list({ status: 'pending', limit: mostListed })
          .page()
          .then((page) => page.requests),
      ),
    ]);
  // A session is active before its first run, too, and so is a fork before it goes on.
  const begun = active.filter(({ agent }) => agent !== undefined);
  const madeOnly = await Promise.all(begun.map(readMadeOnly));
  const running = begun.filter((_, i) => madeOnly[i] !== true);
  const waiting = [...asking, ...sleeping];
  const followed = [...first(running), ...first(failed), ...first(waiting), ...newest]
    .filter(isFirst)
    // A task that waits for its first turn has no events yet.
    .filter(({ seq }) => seq > 0)
    .slice(0, mostTails);
  return {
    running,
    waiting,
    failed,
    latest: newest[0],
    tails: await Promise.all(followed.map(readTail)),
    tasks,
    triggers,
    agents,
    requests: requests.length,
  };
}

async function readTasks(): Promise<readonly ServerTask[]> {
  const [open, ended] = await Promise.all([
    orNothing(api.tasks.list({ limit: mostListed })),
    orNothing(
      api.tasks.list({ state: ['completed', 'failed', 'cancelled', 'timeout'], limit: mostListed }),
    ),
  ]);
  const since = Date.now() - historyMs;
  return [...open, ...ended.filter(({ completedAt = 0 }) => completedAt > since)];
}

let hasTriggers = true;

/** An app without triggers refuses to list them: it is not asked again. */
async function readTriggers(): Promise<readonly ServerTrigger[]> {
  if (!hasTriggers) return [];
  try {
    return await api.triggers.list();
  } catch (error) {
    if (!isLastingRefusal(error)) throw error;
    hasTriggers = false;
    return [];
  }
}

/** Not allowed, not there, or not part of this app: another request would be answered alike. */
function isLastingRefusal(error: unknown): boolean {
  return [403, 404, 409, 410].includes(refusalOf(error)?.status ?? 0);
}

/** Leaves out of the page what the reader may not read, or this server does not have. */
async function orNothing<Item>(list: Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await list;
  } catch (error) {
    if (!isLastingRefusal(error)) throw error;
    return [];
  }
}

async function readTail({ id, title = id, seq }: ServerSession): Promise<Tail> {
  const kept = tails.get(id);
  const after = Math.max(kept?.next ?? 0, seq - tailLength);
  if (kept !== undefined && kept.next >= seq) return kept;
  lastRequests += 1;
  try {
    const page = await api.sessions.eventPage(id, { after, limit: tailLength });
    const events = [...(kept?.events ?? []), ...(page.events as readonly LedgerEvent[])];
    const tail = { session: id, title, events: events.slice(-tailLength), next: page.next };
    tails.delete(id);
    tails.set(id, tail);
    for (const [oldest] of tails) if (tails.size > 2 * mostTails) tails.delete(oldest);
    return tail;
  } catch (error) {
    // Deleted meanwhile, or out of reach.
    if (!isLastingRefusal(error)) throw error;
    return { session: id, title, events: [] };
  }
}

/** A part of each kind of session, so that none takes the places of all others. */
function first(sessions: readonly ServerSession[]): readonly ServerSession[] {
  return sessions.slice(0, mostTails / 3);
}

function isFirst(session: ServerSession, i: number, all: readonly ServerSession[]): boolean {
  return all.findIndex(({ id }) => id === session.id) === i;
}
