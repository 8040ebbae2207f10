import { defined } from '../../base/defined.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../../base/json.ts';
import type {
  ListedRow,
  RebuiltTurn,
  RequestRow,
  SessionRows,
  StoredRow,
  TurnRow,
} from '../../ledger/port.ts';
import { foldedKinds, type RebuiltSession } from './session-fold.ts';
import type { StoredSession } from './stored-session.ts';

/** A row that is not what follows from the ledger and the inbox. */
export interface RowDifference {
  /** Kind of the row: `turn`, `summary`, `request`, or that of a listed row. */
  readonly row: string;
  /** Id of the request or of the listed row. */
  readonly id?: string;
  /** The row of the store; missing when there is none, or none that can be read. */
  readonly stored?: JsonObject;
  /** The row that follows; missing when there is none. */
  readonly rebuilt?: JsonObject;
}

/** Differences of a session, and the parts that replace them. */
export interface Comparison {
  readonly differences: readonly RowDifference[];
  readonly parts: SessionRows;
}

/**
 * Milliseconds within which two instants count as equal: the store takes an item in a moment after
 * it was made. The stored instant is kept then.
 */
const nearMs = 1_000;

/** Compares the rows of the store with those that follow from a ledger. */
export function compareSession(
  stored: StoredSession,
  { requests, rows, summary, turn }: RebuiltSession,
  now: number,
): Comparison {
  const entry = summary === undefined ? undefined : summaryDifference(stored, { ...summary });
  const asked = listDifferences(
    stored.requests?.map((row) => ({ row: 'request', id: row.requestId, value: { ...row } })),
    requests.map((row) => ({ row: 'request', id: row.requestId, value: { ...row } })),
  );
  const listed = listDifferences(
    stored.rows?.map(({ session: _, ...row }) => listedEntry(row)),
    rows.map(listedEntry),
  );
  // The store counts callers with the post that joins them.
  const counted = turn && { ...turn, interests: stored.turn?.interests ?? turn.interests ?? 1 };
  const place = turnDifference(stored.turn, counted, now);
  // A turn without a run was not submitted: nothing of it follows from the ledger.
  const isForeign = turn === undefined && stored.turn !== undefined && !stored.turn.run;
  return {
    differences: [entry, ...asked.differences, ...listed.differences, place].filter(
      (difference) => difference !== undefined,
    ),
    parts: {
      ...(entry === undefined || summary === undefined ? {} : { summary }),
      ...(asked.differences.length === 0
        ? {}
        : { requests: asked.values as unknown as readonly RequestRow[] }),
      ...(listed.differences.length === 0
        ? {}
        : {
            listed: { kinds: foldedKinds, rows: listed.values as unknown as readonly ListedRow[] },
          }),
      // A session whose row was lost is found by what is due again.
      ...(isForeign || (turn !== undefined && place === undefined)
        ? {}
        : { turn: counted ?? null }),
    },
  };
}

export function summaryDifference(
  { listing }: StoredSession,
  rebuilt: JsonObject,
): RowDifference | undefined {
  if (listing === undefined) return { row: 'summary', rebuilt };
  const { runnable, status, title, user } = listing;
  const stored = defined({ status, title, runnable, user }) as JsonObject;
  return isSame(stored, rebuilt) ? undefined : { row: 'summary', stored, rebuilt };
}

interface Entry {
  readonly row: string;
  readonly id: string;
  readonly value: object;
}

export function listedEntry(row: ListedRow | Omit<StoredRow, 'session'>): Entry {
  return { row: row.kind, id: row.id, value: { ...row } };
}

/** Differences of two lists, and the list that is to replace the first. */
export function listDifferences(
  stored: readonly Entry[] | undefined,
  rebuilt: readonly Entry[],
  withNear: typeof withNearInstants = withNearInstants,
): { readonly differences: readonly RowDifference[]; readonly values: readonly JsonObject[] } {
  const left = new Map(stored?.map((entry) => [`${entry.row} ${entry.id}`, entry]));
  const differences: RowDifference[] = [];
  const values = rebuilt.map(({ id, row, value }) => {
    const found = left.get(`${row} ${id}`)?.value as JsonObject | undefined;
    left.delete(`${row} ${id}`);
    const kept = withNear(found, value as JsonObject);
    if (found === undefined || !isSame(found, kept))
      differences.push({ row, id, ...defined({ stored: found }), rebuilt: kept });
    return kept;
  });
  for (const { id, row, value } of left.values())
    differences.push({ row, id, stored: value as JsonObject });
  return { differences, values };
}

const instants: ReadonlySet<string> = new Set([
  'createdAt',
  'settledAt',
  'startedAt',
  'completedAt',
  'expiresAt',
  'since',
  'readyAt',
  'softAt',
  'hardAt',
]);
/** Members of a row that have instants of their own. */
const bodies: ReadonlySet<string> = new Set(['body']);

/** Returns a rebuilt row with the stored instants that are about those of the ledger. */
export function withNearInstants(
  stored: JsonObject | undefined,
  rebuilt: JsonObject,
  names = instants,
  groups = bodies,
): JsonObject {
  if (stored === undefined) return rebuilt;
  return Object.fromEntries(
    Object.entries(rebuilt).map(([name, value]) => {
      const found = stored[name];
      if (groups.has(name) && isObject(found) && isObject(value))
        return [name, withNearInstants(found, value, names, groups)];
      return [name, names.has(name) && isNear(found, value) ? found : value];
    }),
  ) as JsonObject;
}

function isNear(stored: JsonValue | undefined, rebuilt: JsonValue | undefined): boolean {
  return (
    typeof stored === 'number' &&
    typeof rebuilt === 'number' &&
    Math.abs(stored - rebuilt) <= nearMs
  );
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSame(left: JsonObject, right: JsonObject): boolean {
  return canonicalJson(left) === canonicalJson(right);
}

function turnDifference(
  found: TurnRow | undefined,
  turn: RebuiltTurn | undefined,
  now: number,
): RowDifference | undefined {
  if (found === undefined && turn === undefined) return undefined;
  if (turn === undefined)
    return found?.run === undefined ? undefined : { row: 'turn', stored: storedTurn(found, now) };
  const rebuilt = rebuiltTurn(turn, found, now);
  if (found === undefined) return { row: 'turn', rebuilt };
  const stored = storedTurn(found, now);
  return isSame(stored, withNearInstants(stored, rebuilt))
    ? undefined
    : { row: 'turn', stored, rebuilt };
}

/**
 * A stored turn in the members that follow from a ledger. Its place among the turns of its keys,
 * and whether a worker that is gone had it, follow from others.
 */
function storedTurn(turn: TurnRow, now: number): JsonObject {
  const { app: _, session: __, takenAt: ___, tenant: ____, state, ...row } = turn;
  const { readyAt, since } = row;
  const hasComeTime = state === 'resting' && readyAt !== null && readyAt <= now;
  return {
    ...defined(row),
    rests: state === 'resting' && !hasComeTime,
    readyAt: hasComeTime ? null : readyAt,
    since: hasComeTime ? readyAt : since,
  } as unknown as JsonObject;
}

function rebuiltTurn(turn: RebuiltTurn, stored: TurnRow | undefined, now: number): JsonObject {
  const { controlAt: _, hardMs, holds: __, rests, since, softMs, toFront, ...row } = turn;
  const settings = { ...defined(row), estimateMs: row.estimateMs ?? 1_000 };
  // The store knows until when a session sleeps.
  const until = rests === 'until_wake' ? (stored?.readyAt ?? null) : (rests ?? null);
  const hasCome = until !== null && until <= now;
  const { hardAt, softAt } = stored ?? {};
  if (rests !== undefined)
    return {
      ...settings,
      ...{ rests: !hasCome, readyAt: hasCome ? null : until },
      since: hasCome ? until : (stored?.since ?? since),
      // Its time begins to pass when somebody looks.
      ...(hasCome ? defined({ hardAt, softAt }) : {}),
    } as unknown as JsonObject;
  const awaitsRate = stored?.state === 'resting' && turn.rate !== undefined;
  return {
    ...settings,
    ...{ rests: awaitsRate, readyAt: awaitsRate ? stored.readyAt : null },
    // The store knows before which others it was put.
    since: toFront === true && stored !== undefined ? Math.min(stored.since, since) : since,
    ...defined({
      softAt: softMs === undefined ? undefined : since + softMs,
      hardAt: hardMs === undefined ? undefined : since + hardMs,
    }),
  } as unknown as JsonObject;
}
