import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqlite } from 'adjutant/sqlite';
import { agentOfRounds } from '../contenders/adjutant.ts';
import { Figure } from '../measure.ts';
import { type Benchmark, ours, type Settings } from '../row.ts';

interface Size {
  /** Pages of the file, after the log was copied into it. */
  readonly pages: number;
  /** Everything in the rows of the events, without what the file adds. */
  readonly rows: number;
}

/** What a round with one small tool call adds to the file, the recipe of its prompt included. */
export const storedBytes: Benchmark = {
  name: 'stored-bytes',
  async run(settings) {
    const [ten, hundred, thousand] = [await sizeOf(10, settings), await sizeOf(100, settings), await sizeOf(1_000, settings)];
    const perRound = (more: number, less: number, rounds: number): number => (more - less) / rounds / 1_024;
    const late = perRound(thousand.rows, hundred.rows, 900);
    const early = perRound(hundred.rows, ten.rows, 90);
    return [
      {
        work: 'stored for a round on SQLite, in pages',
        unit: 'KiB',
        figures: only(perRound(thousand.pages, hundred.pages, 900)),
        ceiling: { limit: 0.8 },
      },
      { work: 'stored for a round on SQLite, in rows', unit: 'KiB', figures: only(late), ceiling: { limit: 0.8 } },
      { work: 'stored for round 1,000 against round 100', unit: '×', figures: only(late / early), ceiling: { limit: 1.1 } },
    ];
  },
};

function only(value: number): Map<string, Figure> {
  return new Map([[ours, new Figure([value])]]);
}

async function sizeOf(rounds: number, { folder }: Settings): Promise<Size> {
  const path = join(folder, `bytes-${rounds}.db`);
  const store = sqlite(path);
  await agentOfRounds(rounds, 1, { store }).run();
  await store.close();
  const database = new DatabaseSync(path);
  try {
    database.exec('pragma wal_checkpoint(truncate)');
    const pages = Number(database.prepare('pragma page_count').get()?.['page_count']);
    const pageSize = Number(database.prepare('pragma page_size').get()?.['page_size']);
    return { pages: pages * pageSize, rows: lengthOfRows(database) };
  } finally {
    database.close();
  }
}

/** Numbers as SQLite stores them take a byte or more of a header and of a body; they are counted by their digits, which is more. */
function lengthOfRows(database: DatabaseSync): number {
  const columns = database.prepare('select name from pragma_table_info(?)').all('events');
  const sum = columns.map(({ name }) => `octet_length("${String(name)}")`).join(' + ');
  return Number(database.prepare(`select sum(${sum}) as bytes from events`).get()?.['bytes']);
}
