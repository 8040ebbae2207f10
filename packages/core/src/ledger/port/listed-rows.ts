import type { JsonObject } from '../../base/json.ts';

/**
 * A row that is found across sessions: a task, a failure, a trigger. It is written with the append
 * or post that causes it, and can be made again from the ledger.
 */
export interface ListedRow {
  /** Kind of the row, for example `task`. */
  readonly kind: string;
  /** Unique for its kind within tenant and app. */
  readonly id: string;
  readonly status: string;
  /** Epoch milliseconds by which rows are listed. */
  readonly at: number;
  /** Epoch milliseconds from which it is not listed any more. */
  readonly expiresAt?: number;
  readonly user?: string;
  readonly body: JsonObject;
  /** True to remove the row. */
  readonly removed?: boolean;
}

export interface StoredRow extends ListedRow {
  readonly session: string;
}

export interface RowFilter {
  readonly kind: string;
  readonly id?: string;
  readonly session?: string;
  readonly statuses?: readonly string[];
  readonly user?: string;
  /** @default 100 */
  readonly limit?: number;
  /** Newest first. @default false */
  readonly newestFirst?: boolean;
  /** Last row of the page before; the list continues after it. */
  readonly after?: Pick<ListedRow, 'at' | 'id'>;
}
