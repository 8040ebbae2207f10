import { defined } from '../../base/defined.ts';
import { isCount, isNonEmptyText, isOneOf, type OptionChecks } from '../../base/options.ts';
import { isServiceSession } from '../../ledger/port/service-sessions.ts';
import type { SessionSearch, SessionSearchQuery } from '../../ledger/port/session-search.ts';
import type { LedgerStore, ListOptions, SessionListing } from '../../ledger/port.ts';
import type { SessionStatus } from '../../ledger/status.ts';
import { writeCursor } from './session-cursor.ts';

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
  /**
   * Only sessions whose messages have all words of this text, and its phrases in quotation marks;
   * neither case nor accents matter. Pages may have fewer sessions than `limit`.
   * @default all
   */
  readonly text?: string;
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
  text: isNonEmptyText,
  order: isOneOf('updatedAt', 'createdAt'),
  limit: isCount,
  cursor: isNonEmptyText,
};

/** Lists sessions of callers: those of services are passed over. */
export async function listedSessions(
  ledgers: LedgerStore,
  options: ListOptions,
  count: number,
  after: ListOptions['before'],
): Promise<readonly SessionListing[]> {
  const found: SessionListing[] = [];
  for (let before = after; ; ) {
    const limit = count - found.length;
    const page = await ledgers.list({ ...options, ...defined({ before }), limit });
    found.push(...page.filter(({ id }) => !isServiceSession(id)));
    if (page.length < limit || found.length >= count) return found;
    before = page.at(-1);
  }
}

/** Part of a list of sessions. */
export interface SessionPage {
  readonly sessions: readonly SessionListing[];
  /** Cursor of the next page; missing on the last one. */
  readonly cursor?: string;
}

/** Ports of the search for sessions of one tenant. */
export interface SearchPorts {
  readonly tenant: string;
  readonly app: string;
  /** Returns the store of the app. */
  readonly ledgers: () => LedgerStore;
  readonly search: () => SessionSearch;
}

/**
 * A page of the sessions whose messages match.
 * @throws TextSearchUnavailableError
 */
export async function searchedPage(
  { tenant, app, ledgers, search }: SearchPorts,
  text: string,
  list: SessionSearchQuery['list'] & Required<Pick<ListOptions, 'order'>>,
  limit: number,
): Promise<SessionPage> {
  const query = { tenant, app, ledgers: ledgers(), text, list, limit };
  const { sessions, last } = await search().find(query);
  return { sessions, ...(last && { cursor: writeCursor(last, list.order) }) };
}
