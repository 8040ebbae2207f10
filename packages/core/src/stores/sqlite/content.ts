import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { StoreUnavailableError } from '../../ledger/errors.ts';
import type { ContentAccess, ContentDialect, ContentRow } from '../content-access.ts';
import { describeFailure, openDatabase } from './database.ts';
import type { WorkerSettings } from './protocol.ts';
import { rowId } from './rows/rows-by-id.ts';

const dialect: ContentDialect = {
  user: 'user',
  requestId: 'request',
  requestBody: 'body',
  eventsAfter: `id > ${rowId('$1', '$2')} and id < ${rowId('($1 + 1)', '0')} order by id`,
  rowIs: () => `id = ${rowId('$1', '$2')}`,
  bytes: 'blob',
  toStored: (text) => text,
  fromStored: (stored) => stored,
};

/** The tables of a SQLite file, on a connection of its own. */
export class SqliteContent implements ContentAccess {
  readonly dialect = dialect;
  readonly #settings: WorkerSettings;
  readonly #releaseFile: () => Promise<unknown>;
  readonly #statements = new Map<string, StatementSync>();
  #database: DatabaseSync;

  /** @param releaseFile closes the file in the worker thread, which opens it again when needed */
  constructor(settings: WorkerSettings, releaseFile: () => Promise<unknown>) {
    if (settings.path === ':memory:')
      throw new StoreUnavailableError({
        store: settings.path,
        reason: 'a store in memory has nothing that stays: encrypt it from the beginning',
        permanent: true,
      });
    this.#settings = settings;
    this.#releaseFile = releaseFile;
    this.#database = openDatabase(settings);
  }

  async query(statement: string, values: readonly unknown[] = []): Promise<readonly ContentRow[]> {
    return this.#attempt(() =>
      this.#prepared(statement).all(...(values as readonly SQLInputValue[])),
    );
  }

  #prepared(statement: string): StatementSync {
    const found = this.#statements.get(statement);
    if (found !== undefined) return found;
    const sql = statement.replaceAll('{s}', '').replaceAll('$', '?');
    const prepared = this.#database.prepare(sql);
    this.#statements.set(statement, prepared);
    return prepared;
  }

  async begin(): Promise<void> {
    this.#statements.clear();
    this.#database.close();
    await this.#releaseFile();
    this.#attempt(() => {
      const { path, busyTimeoutMs } = this.#settings;
      this.#database = new DatabaseSync(path, { timeout: busyTimeoutMs });
      // SQLite gives this lock only while no other connection has the file open.
      this.#database.exec('pragma locking_mode = exclusive');
      this.#database.exec('begin exclusive');
      this.#database.exec('pragma secure_delete = on');
    });
  }

  async commit(): Promise<void> {
    this.#attempt(() => this.#database.exec('commit'));
  }

  async rollback(): Promise<void> {
    if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('rollback');
  }

  async compact(): Promise<void> {
    this.#attempt(() => {
      this.#database.exec('pragma wal_checkpoint(truncate)');
      this.#database.exec('vacuum');
      this.#database.exec('pragma wal_checkpoint(truncate)');
    });
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }

  /** @throws StoreUnavailableError */
  #attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      const primary = Number((error as { errcode?: unknown }).errcode) & 0xff;
      if (primary !== busyCode) throw describeFailure(error, this.#settings);
      throw new StoreUnavailableError({
        store: this.#settings.path,
        reason: 'another process has it open; stop every process that uses it, and try again',
      });
    }
  }
}

const busyCode = 5;
