import { isAdjutantError } from '../../base/error.ts';
import type {
  LedgerStore,
  RequestRow,
  SessionListing,
  StoredRow,
  TurnRow,
} from '../../ledger/port.ts';

const pageSize = 1_000;

/** Rows of one session as the store has them. A list that cannot be read is `undefined`. */
export interface StoredSession {
  readonly listing: SessionListing | undefined;
  readonly requests: readonly RequestRow[] | undefined;
  readonly rows: readonly StoredRow[] | undefined;
  readonly turn: TurnRow | undefined;
}

export async function readStoredSession(
  ledgers: LedgerStore,
  session: string,
  kinds: readonly string[],
): Promise<StoredSession> {
  const lists = kinds.map((kind) =>
    allPages((after?: StoredRow) =>
      ledgers.rows({ kind, session, limit: pageSize, ...(after && { after }) }),
    ),
  );
  return {
    listing: (await readable(ledgers.list({ id: session, limit: 1 })))?.[0],
    requests: await readable(
      allPages((after?: RequestRow) =>
        ledgers.requests({ session, limit: pageSize, ...(after && { after }) }),
      ),
    ),
    rows: (await readable(Promise.all(lists)))?.flat(),
    turn: await ledgers.turn(session),
  };
}

async function allPages<Row>(
  read: (after?: Row) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await read(rows.at(-1));
    rows.push(...page);
    if (page.length < pageSize) return rows;
  }
}

/** Rows that are sealed and were changed cannot be read, and are made anew. */
export async function readable<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isAdjutantError(error, 'seal_broken')) return undefined;
    throw error;
  }
}
