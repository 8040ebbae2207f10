import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { z } from 'zod';
import { agentOfRounds } from '../contenders/adjutant.ts';
import { instantModel, roundsOf } from '../instant-model.ts';
import { Figure } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';

interface Size {
  /** Pages of the file, after the log was copied into it. */
  readonly pages: number;
  /** Everything in the rows of the events, without what the file adds. */
  readonly rows: number;
}

/**
 * Bytes that a round with one small tool call adds to the file, the recipe of its prompt included.
 */
export const storedBytes: Benchmark = {
  name: 'stored-bytes',
  async run(settings) {
    const [ten, hundred, thousand] = [
      await sizeOf(10, settings),
      await sizeOf(100, settings),
      await sizeOf(1_000, settings),
    ];
    const perRound = (more: number, less: number, rounds: number): number =>
      (more - less) / rounds / 1_024;
    const late = perRound(thousand.rows, hundred.rows, 900);
    const early = perRound(hundred.rows, ten.rows, 90);
    return [
      {
        work: 'stored for a round on SQLite, in pages',
        unit: 'KiB',
        figures: only(perRound(thousand.pages, hundred.pages, 900)),
        ceiling: { limit: 0.8 },
      },
      {
        work: 'stored for a round on SQLite, in rows',
        unit: 'KiB',
        figures: only(late),
        ceiling: { limit: 0.8 },
      },
      {
        work: 'stored for round 1,000 against round 100',
        unit: '×',
        figures: only(late / early),
        ceiling: { limit: 1.1 },
      },
      ...(await largeResults(settings)),
    ];
  },
};

/** KB of the one tool result of a round: below, at and above what SQLite keeps in a page. */
const resultSizes = [0.5, 1, 2, 4, 8, 32];
const largeRounds = 200;

async function largeResults(settings: Settings): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kb of resultSizes) rows.push(...(await largeResult(kb, settings)));
  return rows;
}

/**
 * Bytes that a round with a large result adds to the file, beside the same texts in a table of one
 * column.
 */
async function largeResult(kb: number, { folder }: Settings): Promise<readonly Row[]> {
  const path = join(folder, `results-${kb}.db`);
  const store = sqlite(path);
  const content = 'x'.repeat(kb * 1_024);
  const add = tool({
    name: 'add',
    description: 'Adds',
    schema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ args }) => `${args.a}${content}`,
  });
  const app = runtime({ app: 'bench', recover: 'manual', store });
  // Its tables come into being with the first use.
  await store.for({ tenant: 'default', app: 'bench' }).head('none');
  const empty = bytesOf(path);
  const worker = agent({
    name: 'worker',
    model: instantModel(roundsOf(largeRounds, 1)),
    tools: [add],
    limits: { rounds: largeRounds + 100 },
  });
  await app.run(worker, 'go');
  await app.close();
  await store.close();
  const database = new DatabaseSync(path);
  try {
    const bare = new DatabaseSync(join(folder, `bare-${kb}.db`));
    bare.exec('create table rows (seq integer primary key, body text) strict');
    const insert = bare.prepare('insert into rows (body) values (?)');
    for (const { body } of database.prepare('select body from events order by seq').iterate())
      insert.run(body as string);
    const [bytes, floor] = [pagesOf(database) - empty, pagesOf(bare)];
    bare.close();
    const work = `stored for a round with a result of ${kb} KB on SQLite`;
    const perRound = new Map([
      ['bare loop', new Figure([floor / largeRounds / 1_024])],
      [ours, new Figure([bytes / largeRounds / 1_024])],
    ]);
    return [
      { work, unit: 'KiB', figures: perRound },
      {
        work: `${work}, against bare rows`,
        unit: '×',
        figures: only(bytes / floor),
        ceiling: { limit: 1.5 },
      },
    ];
  } finally {
    database.close();
  }
}

function bytesOf(path: string): number {
  const database = new DatabaseSync(path);
  try {
    return pagesOf(database);
  } finally {
    database.close();
  }
}

function pagesOf(database: DatabaseSync): number {
  const [pages, size] = ['page_count', 'page_size'].map((name) =>
    Number(database.prepare(`pragma ${name}`).get()?.[name]),
  );
  return (pages as number) * (size as number);
}

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
    return { pages: pagesOf(database), rows: lengthOfRows(database) };
  } finally {
    database.close();
  }
}

/**
 * Numbers as SQLite stores them take a byte or more of a header and of a body; they are counted by
 * their digits, which is more.
 */
function lengthOfRows(database: DatabaseSync): number {
  const columns = database.prepare('select name from pragma_table_info(?)').all('events');
  const sum = columns.map(({ name }) => `octet_length("${String(name)}")`).join(' + ');
  return Number(database.prepare(`select sum(${sum}) as bytes from events`).get()?.['bytes']);
}
