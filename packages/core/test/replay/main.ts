/**
 * The replay tests: `npm run test:replay [-- --only <text>]`. Each ledger in `fixtures` is replayed
 * on the code that wrote it, which must do the same, and on edits of that code, each of which must
 * be found at its place. The last line says how many passed.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type Divergence,
  divergenceText,
  type LedgerFile,
  readLedgerFile,
  replayFile,
} from 'adjutant/replay';
import { keptLedgers } from './kept-ledgers.ts';
import { appOf, type Expected, type KeptLedger } from './recording.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
/** Milliseconds: no code here takes time for something of its own. */
const patience = 200;

interface Row {
  readonly ledger: string;
  readonly edit: string;
  readonly found: string;
  readonly problem: string | undefined;
}

function problemOf(
  divergence: Divergence | undefined,
  expected: Expected | undefined,
): string | undefined {
  if (divergence === undefined) return expected === undefined ? undefined : 'nothing was found';
  if (expected === undefined) return `on the code that wrote it:\n${divergenceText(divergence)}`;
  const { seq, path, kind, subject } = expected;
  if (
    divergence.seq === seq &&
    divergence.path === path &&
    divergence.kind === kind &&
    divergence.subject === subject
  )
    return undefined;
  return `expected event ${seq} (${path}), ${kind}: ${subject}\n${divergenceText(divergence)}`;
}

async function rowOf(ledger: KeptLedger, file: LedgerFile, edit: string | undefined): Promise<Row> {
  const { divergence, events } = await replayFile(file, appOf(ledger.define(edit)), {
    patienceMs: patience,
  });
  const isWhole = divergence !== undefined || events === file.events.length;
  const found =
    divergence === undefined
      ? `nothing in ${events} events`
      : `${divergence.seq} ${divergence.kind}: ${divergence.subject}`;
  const problem = problemOf(divergence, edit === undefined ? undefined : ledger.edits[edit]);
  return {
    ledger: ledger.name,
    edit: edit ?? 'none',
    found,
    problem: problem ?? (isWhole ? undefined : `only ${events} events were replayed`),
  };
}

function print(rows: readonly Row[]): void {
  const width = (of: (row: Row) => string): number =>
    Math.max(...rows.map((row) => of(row).length));
  const [first, second] = [width(({ ledger }) => ledger), width(({ edit }) => edit)];
  for (const { ledger, edit, found, problem } of rows) {
    console.log(
      `${problem === undefined ? 'ok    ' : 'FAILED'} ${ledger.padEnd(first)}  ` +
        `${edit.padEnd(second)}  ${found}`,
    );
    if (problem !== undefined) console.log(problem.replaceAll(/^/gm, '       '));
  }
}

const rows: Row[] = [];
for (const ledger of keptLedgers.filter(({ name }) => name.includes(values.only))) {
  const file = await readLedgerFile(
    fileURLToPath(new URL(`fixtures/${ledger.name}.json`, import.meta.url)),
  );
  for (const edit of [undefined, ...Object.keys(ledger.edits)])
    rows.push(await rowOf(ledger, file, edit));
}
print(rows);
const failed = rows.filter(({ problem }) => problem !== undefined).length;
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && rows.length > 0 ? 0 : 1;
