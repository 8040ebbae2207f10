import { isCount, isNonEmptyText, isOneOf, type OptionChecks } from '../../base/options.ts';
import type { SessionStatus } from '../../ledger/status.ts';

/** Filter, order and page of a list of sessions. */
export interface SessionQuery {
  /** Only the session with this id. @default all */
  readonly id?: string;
  /** Only sessions in this state. @default all */
  readonly status?: SessionStatus;
  /** Only sessions whose last run was of the runnable with this name. @default all */
  readonly runnable?: string;
  /** Only sessions of this user: those whose `user` scope has this id. @default all */
  readonly user?: string;
  /** Order by the time of the last or the first event, newest first. @default 'updatedAt' */
  readonly order?: 'updatedAt' | 'createdAt';
  /** Maximum number of sessions. @default 100 */
  readonly limit?: number;
  /**
   * `cursor` of a page; the list continues behind it. The other options must be those of that page.
   * @default the list begins with the newest session
   */
  readonly cursor?: string | undefined;
}

/** Checks of a `SessionQuery`. */
export const queryChecks: OptionChecks<SessionQuery> = {
  id: isNonEmptyText,
  status: isOneOf('active', 'awaiting_input', 'sleeping', 'completed', 'error'),
  runnable: isNonEmptyText,
  user: isNonEmptyText,
  order: isOneOf('updatedAt', 'createdAt'),
  limit: isCount,
  cursor: isNonEmptyText,
};
