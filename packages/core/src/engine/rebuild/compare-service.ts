import type { JsonObject } from '../../base/json.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import {
  numberedSession,
  serviceKind,
  serviceQueue,
  sessionNumber,
} from '../../ledger/port/service-sessions.ts';
import type {
  InboxEntry,
  LedgerStore,
  ListedRow,
  RebuiltTurn,
  StoredRow,
  TurnRow,
} from '../../ledger/port.ts';
import type { FoldedService, Service } from '../services/service.ts';
import { longestPauseMs, rolledTo, serviceRow } from '../services/service-runner.ts';
import {
  type Comparison,
  listDifferences,
  listedEntry,
  summaryDifference,
  withNearInstants,
} from './differences.ts';
import { readable, readStoredSession, type StoredSession } from './stored-session.ts';

interface Place {
  readonly tenant: string;
  readonly ledgers: () => LedgerStore;
}

/** A session of a service, as its ledger and its inbox say. */
interface Folded {
  readonly service: FoldedService;
  readonly inbox: readonly InboxEntry[];
  /** False for a session that has rolled: another one goes on for it, and has the rows. */
  readonly isNewest: boolean;
  readonly turn: RebuiltTurn;
}

/** Compares the rows of a service's session with those that follow from its ledger. */
export async function compareService(
  service: Service,
  ledger: Ledger,
  { ledgers, tenant }: Place,
): Promise<Comparison> {
  const store = ledgers();
  const { session: id } = ledger;
  const inbox = inOrder(await store.inbox(id));
  const events = ledger.events.map((event) => ledger.whole(event));
  const found = service.fold({ id, tenant, events, inbox });
  // Rows of a session of which nothing says whose it is stay as they are.
  if (found === undefined || numberedSession(service.kind, found.name, sessionNumber(id)) !== id)
    return { differences: [], parts: {} };
  const isNewest = rolledTo({ ledger }) === undefined;
  const turn = turnOf(found, { isNewest, inbox, since: events.at(-1)?.at ?? 0 });
  const folded: Folded = { service: found, inbox, isNewest, turn };
  const kinds = [...service.rowKinds, serviceKind];
  const stored = await readStoredSession(store, id, kinds);
  const summary = summaryDifference(stored, { status: 'active' });
  const listed = isNewest ? await compareRows(service.kind, { id, folded, stored, store }) : none;
  const isTurnRight = isRight(stored.turn, folded, service.kind, await store.now());
  const place = isTurnRight ? undefined : turnDifference(stored.turn, turn);
  return {
    differences: [summary, ...listed.differences, place].filter((one) => one !== undefined),
    parts: {
      ...(summary === undefined ? {} : { summary: { status: 'active' } }),
      ...(listed.differences.length === 0 ? {} : { listed: { kinds, rows: listed.rows } }),
      ...(isTurnRight ? {} : { turn }),
    },
  };
}

const none = { differences: [], rows: [] };

function inOrder(inbox: readonly InboxEntry[]): readonly InboxEntry[] {
  return [...inbox].sort((left, right) => left.position - right.position);
}

/**
 * The turn of a session whose turn was lost. The newest one is ready: its service looks once, and
 * rests until the instant that it finds.
 */
function turnOf(
  { name, runnable }: FoldedService,
  { inbox, isNewest, since }: Pick<Folded, 'inbox' | 'isNewest'> & { readonly since: number },
): RebuiltTurn {
  const isReady = isNewest || inbox.length > 0;
  return {
    ...{ queue: serviceQueue, runnable, requester: name },
    since: inbox[0]?.at ?? since,
    ...(isReady ? {} : { rests: null }),
  };
}

interface Rows {
  readonly id: string;
  readonly folded: Folded;
  readonly stored: StoredSession;
  readonly store: LedgerStore;
}

/** Compares rows by their ids: an earlier session of the service may have written them. */
async function compareRows(
  kind: string,
  { folded: { service, inbox }, id: session, store, stored }: Rows,
): Promise<Pick<Comparison, 'differences'> & { readonly rows: readonly ListedRow[] }> {
  const { name, rows } = service;
  const isLater = sessionNumber(session) > 1;
  const at = inbox[0]?.at ?? stored.listing?.createdAt ?? 0;
  const expected = [...rows, ...(isLater ? [serviceRow(kind, name, session, at)] : [])];
  const found = await Promise.all(
    expected.map(({ id, kind: of }) => readable(store.rows({ kind: of, id, limit: 1 }))),
  );
  const own = stored.rows ?? [];
  const others = found.flat().filter((row) => row !== undefined && row.session !== session);
  const { differences, values } = listDifferences(
    [...own, ...(others as readonly StoredRow[])].map(({ session: _, ...row }) => listedEntry(row)),
    expected.map(withoutMissing).map(listedEntry),
    withStored,
  );
  return { differences, rows: values as unknown as readonly ListedRow[] };
}

function withoutMissing(row: ListedRow): ListedRow {
  return JSON.parse(JSON.stringify(row)) as ListedRow;
}

const instants: ReadonlySet<string> = new Set(['at', 'anchor', 'nextAt', 'instant']);
const groups: ReadonlySet<string> = new Set(['body', 'last', 'open']);

/**
 * Returns a rebuilt row with what the store alone knows: the moment at which a subscription or a
 * session was first listed, and the session that has written the row of a trigger.
 */
function withStored(stored: JsonObject | undefined, rebuilt: JsonObject): JsonObject {
  if (stored === undefined) return rebuilt;
  const kept = withNearInstants(stored, rebuilt, instants, groups);
  const [had, has] = [stored['body'] as JsonObject, kept['body'] as JsonObject];
  const isFolded = has['declaration'] !== undefined;
  if (!isFolded) return { ...kept, at: stored['at'] ?? null };
  const { session } = had;
  return { ...kept, body: { ...has, ...(session === undefined ? {} : { session }) } };
}

/** True for a turn by which its service is found in time. */
function isRight(
  stored: TurnRow | undefined,
  { inbox, isNewest, service, turn }: Folded,
  kind: string,
  now: number,
): boolean {
  if (stored === undefined) return false;
  if (stored.queue !== turn.queue || stored.requester !== turn.requester) return false;
  // The last post names the turn: with items, it may be that of a declaration to come.
  const isNamed = stored.runnable === turn.runnable || stored.runnable === kind;
  if (!isNamed && inbox.length === 0) return false;
  if (stored.state !== 'resting') return true;
  if (!isNewest) return inbox.length === 0 || stored.readyAt !== null;
  const { wakeAt } = service;
  if (stored.readyAt === null) return inbox.length === 0 && wakeAt === null;
  // A service that has failed rests for a while.
  return typeof wakeAt !== 'number' || stored.readyAt <= Math.max(wakeAt, now) + longestPauseMs;
}

function turnDifference(
  stored: TurnRow | undefined,
  turn: RebuiltTurn,
): Comparison['differences'][number] {
  const rebuilt = { ...turn } as unknown as JsonObject;
  if (stored === undefined) return { row: 'turn', rebuilt };
  const { queue, readyAt, requester, runnable, since, state } = stored;
  return { row: 'turn', stored: { queue, readyAt, requester, runnable, since, state }, rebuilt };
}
