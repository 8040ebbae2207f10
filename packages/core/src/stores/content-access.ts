/** A row of a table, by the names of its columns. */
export type ContentRow = Readonly<Record<string, unknown>>;

/** Names and conditions in which the databases of stores differ. */
export interface ContentDialect {
  /** Columns of `requests` and `ledgers` that have another name in each database. */
  readonly user: string;
  readonly requestId: string;
  readonly requestBody: string;
  /** SQL of the rows of ledger `$1` whose own number is greater than `$2`, in their order. */
  readonly eventsAfter: string;
  /** SQL of the row `$2` of ledger `$1`, for the column with the number of the row. */
  rowIs(column: string): string;
  /** Type of columns of bytes. */
  readonly bytes: string;
  /** Returns a text as columns have it, and back: not every database stores every character. */
  toStored(text: string): string;
  fromStored(stored: string): string;
}

/**
 * The tables of a store, opened so that all content can be replaced in one transaction. Statements
 * name tables as `{s}table` and values as `$1`, `$2` and so on.
 */
export interface ContentAccess {
  readonly dialect: ContentDialect;
  query(statement: string, values?: readonly unknown[]): Promise<readonly ContentRow[]>;
  /**
   * Begins the transaction, and keeps every other process out of the tables until it ends.
   * @param isMeant tells the apps whose sessions no process may hold
   * @throws StoreUnavailableError, SessionBusyError while another process uses the store
   */
  begin(isMeant: (app: string) => boolean): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Writes the tables anew, so that the database has nothing left that was replaced. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the tables of a store. Stores that have no such method cannot be encrypted later. */
export const openContent: unique symbol = Symbol('adjutant.openContent');

export interface StoreWithContent {
  [openContent](): Promise<ContentAccess>;
}

export function hasContent(store: object): store is StoreWithContent {
  return typeof (store as Partial<StoreWithContent>)[openContent] === 'function';
}
