import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

type Synchronous = 'full' | 'normal';
type Row = readonly [seq: number, body: string];

/** Events of a round, and about how long each is as it is stored. */
const rowsPerRound = 5;
const body = 'x'.repeat(100);

/**
 * The least that a durable round needs: rows handed to a worker thread, one transaction there, and
 * the answer. It has the journal and the settings that the store has, and nothing else.
 */
export class BareCommit implements AsyncDisposable {
  readonly #worker: Worker;
  #seq = 0;

  constructor(path: string, synchronous: Synchronous) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { path, synchronous } });
  }

  /** Commits the rows of one round. */
  async round(): Promise<void> {
    const rows: Row[] = Array.from({ length: rowsPerRound }, () => [++this.#seq, body]);
    const answered = once(this.#worker, 'message');
    this.#worker.postMessage(rows);
    await answered;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

function serve({ path, synchronous }: { path: string; synchronous: Synchronous }): void {
  const database = new DatabaseSync(path);
  database.exec(
    `pragma journal_mode = wal; pragma synchronous = ${synchronous}; create table rows ` +
      '(seq integer primary key, body text) strict',
  );
  const insert = database.prepare('insert into rows (seq, body) values (?, ?)');
  parentPort?.on('message', (rows: readonly Row[]) => {
    database.exec('begin immediate');
    for (const [seq, text] of rows) insert.run(seq, text);
    database.exec('commit');
    parentPort?.postMessage(null);
  });
}

if (!isMainThread) serve(workerData as { path: string; synchronous: Synchronous });
