import { closeSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../base/clock.ts';
import { StoreTooNewError, StoreUnavailableError } from '../../ledger/errors.ts';
import { assertLocalFile, type FileSystemType, fileSystemType } from './file-system.ts';
import type { WorkerSettings } from './protocol.ts';
import { applicationId, migrations } from './tables.ts';

/**
 * Opens or makes the file, and brings its schema up to date. A file that is refused is not changed.
 * @param typeOf returns the type of the file system at a place
 * @throws StoreUnavailableError, StoreTooNewError
 */
export function openDatabase(
  settings: WorkerSettings,
  typeOf: FileSystemType = fileSystemType,
): DatabaseSync {
  try {
    const place = placeOf(settings.path);
    if (place !== undefined) assertLocalFile(settings.path, place, typeOf);
    if (place !== undefined) makePrivate(settings.path);
    return openForWriting(settings);
  } catch (error) {
    const reading = isReadOnly(error)
      ? described(settings, () => openForReading(settings))
      : undefined;
    if (reading === undefined) throw describeFailure(error, settings);
    return reading;
  }
}

function described<Result>(settings: WorkerSettings, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw describeFailure(error, settings);
  }
}

function openForWriting(settings: WorkerSettings): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    // Readers of a file that another process is just making meet a lock even before the first
    // pragma.
    database = new DatabaseSync(settings.path, { timeout: settings.busyTimeoutMs });
    checkFile(database, settings.path);
    configure(database, settings);
    migrate(database, settings);
    return database;
  } catch (error) {
    database?.close();
    throw error;
  }
}

/**
 * Makes a missing file, which only the user of this process may read and write. SQLite gives its
 * other files, of the log and of shared memory, the same permissions. An existing file keeps its
 * permissions.
 */
function makePrivate(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined)
      closeSync(openSync(path, 'a', 0o600));
  } catch {
    // Opening the database reports the failure, if there is one.
  }
}

/** True when the file, or a file that SQLite needs beside it, cannot be written. */
function isReadOnly(error: unknown): boolean {
  const primary = Number((error as { errcode?: unknown } | undefined)?.errcode) & 0xff;
  return primary === readOnlyCode || primary === cannotOpenCode;
}

const readOnlyCode = 8;
const fullCode = 13;
const cannotOpenCode = 14;

/**
 * Opens a file that cannot be written, as on a disk that is mounted read-only. Its content can be
 * read and exported, and writes fail. SQLite cannot lock anything there, so it takes the file to be
 * unchanging. That is true only if no process has left a log beside it.
 */
function openForReading({ path, busyTimeoutMs }: WorkerSettings): DatabaseSync | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const ways: (() => DatabaseSync)[] = [
    () => new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs }),
  ];
  if (statSync(`${path}-wal`, { throwIfNoEntry: false }) === undefined) {
    const unchanging = pathToFileURL(resolve(path));
    unchanging.searchParams.set('immutable', '1');
    ways.push(() => new DatabaseSync(unchanging, { readOnly: true }));
  }
  for (const open of ways) {
    let database: DatabaseSync | undefined;
    try {
      database = open();
      checkFile(database, path);
      // Bringing a file of an older version up to date needs writing.
      if (readPragma(database, 'user_version') === migrations.length) return database;
      database.close();
    } catch (error) {
      database?.close();
      if (!isReadOnly(error)) throw error;
    }
  }
  return undefined;
}

/**
 * Returns the file, or the directory in which it is to be made; `undefined` for a store in memory.
 */
function placeOf(path: string): string | undefined {
  if (path === ':memory:') return undefined;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory())
    throw new StoreUnavailableError({
      store: path,
      reason: 'it is a directory, not a file',
      permanent: true,
    });
  if (found !== undefined) return resolve(path);
  const directory = dirname(resolve(path));
  const above = statSync(directory, { throwIfNoEntry: false });
  if (above?.isDirectory()) return directory;
  const reason =
    above === undefined
      ? `the directory ${directory} does not exist; create it first`
      : `${directory} is not a directory`;
  throw new StoreUnavailableError({ store: path, reason, permanent: true });
}

function checkFile(database: DatabaseSync, path: string): void {
  // Read in one moment: another process may be making the file, and earlier values would not fit
  // later ones.
  database.exec('begin');
  const version = readPragma(database, 'user_version');
  const id = readPragma(database, 'application_id');
  const tables = database.prepare('select count(*) as number from sqlite_schema').get()?.['number'];
  database.exec('commit');
  if (id !== applicationId && (id !== 0 || version !== 0 || tables !== 0)) {
    throw new StoreUnavailableError({
      store: path,
      reason: 'it is a SQLite database of another application',
      permanent: true,
    });
  }
  if (version > migrations.length)
    throw new StoreTooNewError({ store: path, found: version, supported: migrations.length });
}

/**
 * Sets the connection up. Replaced content is overwritten where that writes no page more: no copy
 * of a wrapped key is left. A deletion overwrites all that it removes.
 */
function configure(database: DatabaseSync, settings: WorkerSettings): void {
  useWriteAheadLog(database, settings.busyTimeoutMs);
  database.exec(`
    pragma synchronous = ${settings.synchronous === 'normal' ? 'normal' : 'full'};
    pragma wal_autocheckpoint = 0;
    pragma journal_size_limit = 67108864;
    pragma cache_size = -16384;
    pragma secure_delete = fast;
  `);
}

/**
 * Switches the journal mode. SQLite does not wait for the lock of that, so processes that make one
 * file at the same time retry.
 */
function useWriteAheadLog(database: DatabaseSync, busyTimeoutMs: number): void {
  const end = systemClock.monotonic() + busyTimeoutMs;
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      const locked = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
      if (locked !== 5 || systemClock.monotonic() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/**
 * Milliseconds to wait for another process that migrates a file of gigabytes, all in one
 * transaction.
 */
const longestMigrationMs = 300_000;

function migrate(database: DatabaseSync, { busyTimeoutMs }: WorkerSettings): void {
  const found = readPragma(database, 'user_version');
  if (found === migrations.length) return;
  if (found > 0)
    database.exec(`pragma busy_timeout = ${Math.max(busyTimeoutMs, longestMigrationMs)}`);
  try {
    takeSteps(database);
    // The log has all rows that were moved: copied now, it need not stay that large.
    if (found > 0) database.exec('pragma wal_checkpoint(passive)');
  } finally {
    database.exec(`pragma busy_timeout = ${busyTimeoutMs}`);
  }
}

function takeSteps(database: DatabaseSync): void {
  database.exec('begin immediate');
  try {
    // Read again: another process may have migrated the file while this one waited for the lock.
    for (const step of migrations.slice(readPragma(database, 'user_version'))) {
      if (typeof step === 'string') database.exec(step);
      else step(database);
    }
    database.exec(
      `pragma user_version = ${migrations.length}; pragma application_id = ${applicationId}`,
    );
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`pragma ${name}`).get()?.[name]);
}

/**
 * Explanations of the primary result codes of SQLite (https://sqlite.org/rescode.html), for the
 * developer who opened the store.
 */
const reasons: Readonly<Record<number, (settings: WorkerSettings) => string>> = {
  3: () => 'this process may not access it',
  5: ({ busyTimeoutMs }) =>
    `another process has kept it locked for longer than ${busyTimeoutMs / 1000} s`,
  6: ({ busyTimeoutMs }) =>
    `another process has kept it locked for longer than ${busyTimeoutMs / 1000} s`,
  8: () =>
    'it is read-only for this process, so that it can be read at most and nothing can be ' +
    'written; check the permissions of the file and of its directory, and how the disk is ' +
    'mounted',
  10: () => 'reading or writing it failed',
  11: () => 'its contents are damaged',
  13: () => 'the disk is full',
  14: () =>
    'it cannot be opened or created; check the permissions of the file and of its directory',
  23: () => 'this process may not access it',
  26: () => 'it is not a SQLite database',
};

/**
 * Primary result codes of failures that may pass: locks, memory, disk space, input and output, too
 * many open files.
 */
const passing: ReadonlySet<number> = new Set([4, 5, 6, 7, 9, 10, 13, 14, 15, 17]);

/**
 * Describes a failure of the database as an error that says what to do; anything else stays
 * unchanged.
 */
export function describeFailure(error: unknown, settings: WorkerSettings): unknown {
  if (!(error instanceof Error)) return error;
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (typeof errcode === 'number') {
    const primary = errcode & 0xff;
    const reason = reasons[primary]?.(settings);
    return new StoreUnavailableError({
      store: settings.path,
      reason: reason === undefined ? error.message : `${reason} (${error.message})`,
      ...(passing.has(primary) ? {} : { permanent: true }),
      ...(primary === fullCode ? { full: true } : {}),
    });
  }
  if (typeof code === 'string' && 'syscall' in error) {
    const reason = code === 'EACCES' ? 'this process may not access it' : error.message;
    return new StoreUnavailableError({ store: settings.path, reason, permanent: true });
  }
  return error;
}
