import type { DatabaseSync } from 'node:sqlite';
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { describeFailure, openDatabase } from './database.ts';
import { isRefusal, toFailure } from './failure.ts';
import { FileTime } from './file-time.ts';
import type {
  Outcome,
  ReadRequestMessage,
  Request,
  WorkerSettings,
  WriteRequest,
} from './protocol.ts';
import { ReadOperationsOfFile } from './read-operations.ts';
import { tablesOf } from './rows/tables-of-file.ts';
import { isWrite, nextGroup, rowsOf } from './write-group.ts';
import { WriteOperationsOfFile } from './write-operations.ts';

/** Most milliseconds of a group: other processes wait for the lock. */
const longestGroupMs = 4;
/**
 * Number of rows, with a commit counted in rows, after which the log is copied into the file: about
 * 1,000 pages.
 */
const rowsPerCheckpoint = 8_000;
const rowsPerCommit = 24;

interface OpenFile {
  readonly database: DatabaseSync;
  readonly reads: ReadOperationsOfFile;
  readonly writes: WriteOperationsOfFile;
  readonly time: FileTime;
}

function prepareFile(database: DatabaseSync, { isSystemClock }: WorkerSettings): OpenFile {
  try {
    const tables = tablesOf(database);
    return {
      database,
      reads: new ReadOperationsOfFile(database, tables),
      writes: new WriteOperationsOfFile(database, tables),
      time: new FileTime(database, isSystemClock),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Returns the request with the store's time in place of the main thread's. */
function inTime<Asked extends Request>(request: Asked, time: FileTime): Asked {
  const [operation, asked] = request;
  return asked !== null && 'now' in asked
    ? ([operation, { ...asked, now: time.now(asked.now) }] as unknown as Asked)
    : request;
}

function rollBack({ database, writes }: OpenFile): void {
  if (database.isTransaction) database.exec('rollback');
  writes.rolledBack();
}

/**
 * Serves the requests of the main thread in their order; writes that wait together share a
 * transaction.
 */
class FileServer {
  readonly #port: MessagePort;
  readonly #settings: WorkerSettings;
  #file: OpenFile | undefined;
  #rowsSinceCheckpoint = 0;

  constructor(port: MessagePort, settings: WorkerSettings) {
    this.#port = port;
    this.#settings = settings;
  }

  serve(requests: readonly Request[]): void {
    let next = 0;
    while (next < requests.length) {
      const request = requests[next] as Request;
      if (isWrite(request)) {
        const group = nextGroup(requests, next);
        next += this.#serveGroup(group);
      } else {
        this.#answer([this.#serveRead(request)]);
        next += 1;
      }
    }
    this.#checkpointWhenDue();
  }

  /**
   * Serves a group and returns the number of its served requests. The time limit may leave some for
   * the next group.
   */
  #serveGroup(group: readonly WriteRequest[]): number {
    let file: OpenFile;
    try {
      file = this.#open();
      file.database.exec('begin immediate');
    } catch (error) {
      this.#answer(group.map(() => this.#fail(error)));
      return group.length;
    }
    let outcomes: Outcome[];
    try {
      outcomes = this.#performGroup(file, group);
      file.time.keep();
    } catch (error) {
      rollBack(file);
      if (group.length === 1) this.#answer([this.#fail(error)]);
      // One request failed in the middle of a write: each gets its own transaction, so that only
      // this one fails.
      else for (const request of group) this.#serveGroup([request]);
      return group.length;
    }
    this.#answer(this.#commit(file, outcomes));
    return outcomes.length;
  }

  #performGroup(file: OpenFile, group: readonly WriteRequest[]): Outcome[] {
    const outcomes: Outcome[] = [];
    const end = systemClock.monotonic() + longestGroupMs;
    for (const request of group) {
      outcomes.push(this.#perform(file, request));
      this.#rowsSinceCheckpoint += rowsOf(request);
      if (systemClock.monotonic() > end) break;
    }
    return outcomes;
  }

  #commit(file: OpenFile, outcomes: readonly Outcome[]): readonly Outcome[] {
    try {
      file.database.exec('commit');
      this.#rowsSinceCheckpoint += rowsPerCommit;
      return outcomes;
    } catch (error) {
      rollBack(file);
      return outcomes.map(() => this.#fail(error));
    }
  }

  #perform({ writes, time }: OpenFile, request: WriteRequest): Outcome {
    try {
      return { reply: writes.perform(inTime(request, time)) };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#fail(error);
    }
  }

  #serveRead(request: ReadRequestMessage): Outcome {
    try {
      if (request[0] === 'close') return { reply: this.#close() };
      const { reads, time } = this.#open();
      return { reply: reads.perform(inTime(request, time)) };
    } catch (error) {
      return this.#fail(error);
    }
  }

  #open(): OpenFile {
    this.#file ??= prepareFile(openDatabase(this.#settings), this.#settings);
    return this.#file;
  }

  #close(): null {
    this.#file?.database.close();
    this.#file = undefined;
    return null;
  }

  /** Copies the log when it is due, after the replies have gone, so that no caller waits for it. */
  #checkpointWhenDue(): void {
    if (this.#file === undefined || this.#rowsSinceCheckpoint < rowsPerCheckpoint) return;
    this.#rowsSinceCheckpoint = 0;
    this.#file.database.exec('pragma wal_checkpoint(passive)');
  }

  #answer(outcomes: readonly Outcome[]): void {
    this.#port.postMessage(outcomes);
  }

  #fail(error: unknown): Outcome {
    return { failure: toFailure(describeFailure(error, this.#settings), this.#settings.path) };
  }
}

function start(port: MessagePort): void {
  const server = new FileServer(port, workerData as WorkerSettings);
  port.on('message', (first: readonly Request[]) => {
    const requests = [...first];
    for (
      let more = receiveMessageOnPort(port);
      more !== undefined;
      more = receiveMessageOnPort(port)
    ) {
      requests.push(...(more.message as readonly Request[]));
    }
    server.serve(requests);
  });
}

if (parentPort !== null) start(parentPort);
