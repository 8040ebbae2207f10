import type { ContentAccess, ContentRow } from '../../content-access.ts';

/** A ledger as the database has it. One without a session holds what forks of it share. */
export interface StoredLedger {
  readonly id: number;
  readonly tenant: string;
  readonly app: string;
  readonly session: string | undefined;
  /** The ledger that has the events up to `base`. */
  readonly parent: number | undefined;
  readonly base: number;
  readonly seq: number;
  readonly title: string | undefined;
  readonly runnable: string | undefined;
  readonly user: string | undefined;
}

const mostRows = 500;

/** Reads rows page by page; each holds the rows behind the last one of the page before. */
export async function* pages(
  read: (last: ContentRow | undefined, limit: number) => Promise<readonly ContentRow[]>,
): AsyncGenerator<readonly ContentRow[], void, undefined> {
  let last: ContentRow | undefined;
  do {
    const rows = await read(last, mostRows);
    if (rows.length > 0) yield rows;
    last = rows.length < mostRows ? undefined : rows.at(-1);
  } while (last !== undefined);
}

/** Returns all ledgers, those that were forked before their forks. */
export async function storedLedgers(content: ContentAccess): Promise<readonly StoredLedger[]> {
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' ? content.dialect.fromStored(value) : undefined;
  const found: StoredLedger[] = [];
  const columns = 'id, tenant, app, session, parent, base, seq, title, runnable';
  const select =
    `select ${columns}, ${content.dialect.user} as owner_user from {s}ledgers ` +
    'where id > $1 order by id limit $2';
  for await (const rows of pages((last, limit) =>
    content.query(select, [last?.['id'] ?? 0, limit]),
  ))
    for (const row of rows)
      found.push({
        id: Number(row['id']),
        tenant: String(text(row['tenant'])),
        app: String(text(row['app'])),
        session: text(row['session']),
        parent: row['parent'] === null ? undefined : Number(row['parent']),
        base: Number(row['base']),
        seq: Number(row['seq']),
        title: text(row['title']),
        runnable: text(row['runnable']),
        user: text(row['owner_user']),
      });
  return found;
}

/**
 * Returns the ledgers that a ledger reads, the first of its line before all others, itself last.
 * One that shares nothing with its parent reads only itself.
 */
export function lineOf(
  ledger: StoredLedger,
  ledgers: ReadonlyMap<number, StoredLedger>,
): readonly StoredLedger[] {
  const line = [ledger];
  let { base, parent } = ledger;
  while (parent !== undefined && base > 0) {
    const above = ledgers.get(parent);
    if (above === undefined) break;
    if (above.base < base) line.unshift(above);
    ({ base, parent } = { base: Math.min(base, above.base), parent: above.parent });
  }
  return line;
}
