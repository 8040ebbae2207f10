import { type Clock, systemClock } from '../../base/clock.ts';
import {
  findInvalidOption,
  isCountOrNone,
  isNonEmptyText,
  isObject,
  isOneOf,
  type OptionChecks,
} from '../../base/options.ts';
import type { Store } from '../../ledger/port.ts';
import { InvalidStoreError } from '../invalid-store.ts';
import { startSqliteWorker, WorkerConnection } from './connection.ts';
import { SqliteStore } from './store.ts';

export { InvalidStoreError } from '../invalid-store.ts';

export interface SqliteOptions {
  /**
   * `full`: a confirmed write survives a loss of power. `normal`: it survives the end of the
   * process, but a loss of power may take the last moments; the file stays consistent.
   * @default 'full'
   */
  readonly synchronous?: 'full' | 'normal';
  /**
   * Judges leases and dates sessions. When it goes back, the store goes on from the last instant
   * that it gave out. @default the system's clock
   */
  readonly clock?: Clock;
  /** Milliseconds to wait while another process has locked the file. @default 5000 */
  readonly busyTimeoutMs?: number;
}

const sqliteOptions: OptionChecks<SqliteOptions> = {
  synchronous: isOneOf('full', 'normal'),
  clock: isObject,
  busyTimeoutMs: isCountOrNone,
};

/**
 * A store in one SQLite file, which several processes of one machine may share. `:memory:` keeps it
 * in memory. The file is opened or created on first use, in a worker thread of its own. Failures
 * then are a `StoreUnavailableError` or `StoreTooNewError` of the method that was called.
 * @throws InvalidStoreError
 * @example
 * ```ts
 * import { runtime } from 'adjutant';
 * import { sqlite } from 'adjutant/sqlite';
 *
 * const app = runtime({ app: 'shop', store: sqlite('shop.db') });
 * const session = await app.sessions.open({ id: 'customer-7' });
 * console.log(session.events.length);
 * await app.close();
 * ```
 */
export function sqlite(path: string, options: SqliteOptions = {}): Store {
  if (isNonEmptyText(path) !== undefined) {
    throw new InvalidStoreError({
      store: 'sqlite',
      reason:
        "the path comes first, as a string that is not empty: sqlite('app.db'), or " +
        "sqlite(':memory:')",
    });
  }
  const invalid = findInvalidOption(options, sqliteOptions);
  if (invalid !== undefined) throw new InvalidStoreError({ store: path, reason: invalid.reason });
  const { synchronous = 'full', clock = systemClock, busyTimeoutMs = 5_000 } = options;
  return new SqliteStore(
    path,
    new WorkerConnection(
      { path, synchronous, busyTimeoutMs, isSystemClock: clock === systemClock },
      startSqliteWorker,
    ),
    clock,
  );
}
