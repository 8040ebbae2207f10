/**
 * `npm run structure`: measures how legible the code is, beside the targets. Counted are the
 * sources of `core`, `server` and `cli` without their tests, unless a line says otherwise.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { importCircles } from '../packages/core/test/architecture/import-graph.ts';
import { readSourceTree, repositoryRoot } from '../packages/core/test/architecture/source-tree.ts';
import { countComments, countOpenings } from './structure/comments.ts';
import { walkOfRun } from './structure/walk.ts';

interface Measure {
  readonly name: string;
  /** Value on the commit from which the targets come. */
  readonly before: string;
  readonly wanted: string;
  readonly now: string;
  readonly isMet: boolean;
}

const widest = 100;
const longest = 400;
const tree = readSourceTree();
const isSource = (path: string): boolean =>
  /^packages\/(core|server|cli)\/src\//.test(path) && !path.endsWith('.test.ts');
const sources = tree.filter(({ path }) => isSource(path));
const core = sources.filter(({ path }) => path.startsWith('packages/core/src/'));
const textOf = ({ path }: { readonly path: string }): string =>
  readFileSync(`${repositoryRoot}${path}`, 'utf8');
const texts = sources.map(textOf);

const measures: readonly Measure[] = [
  ...comments(),
  ...sizes(),
  ...folders(),
  ...graph(),
  ...(await walk()),
  exported(),
];
print(measures);
const missed = measures.filter(({ isMet }) => !isMet);
process.stdout.write(`${measures.length - missed.length} passed, ${missed.length} failed\n`);
if (missed.length > 0 && process.argv.includes('--check')) process.exitCode = 1;

function comments(): Measure[] {
  const { comments: all, relatives, examples, links } = countComments(texts);
  const share = (100 * relatives) / all;
  return [
    {
      name: 'doc comments that begin What/Who/Whoever/Whether/Why',
      before: '21.6 % of 5,015 in core',
      wanted: '≤ 2 %',
      now: `${share.toFixed(1)} % of ${all}`,
      isMet: share <= 2,
    },
    commentsElsewhere(),
    {
      name: '@example / {@link}',
      before: '0 / 0',
      wanted: '≥ 25',
      now: `${examples} / ${links}`,
      isMet: examples >= 25,
    },
  ];
}

function sizes(): Measure[] {
  const lines = texts.flatMap((text) => text.split('\n'));
  const wide = lines.filter((line) => line.length > widest).length;
  const largest = sources.toSorted((a, b) => b.lines - a.lines);
  const over = largest.filter(({ lines: count }) => count > longest).length;
  const functions = sources
    .flatMap((file) => file.functions.map((one) => one.lines))
    .sort((a, b) => a - b);
  const [p90, most] = [functions[Math.floor(functions.length * 0.9)] ?? 0, functions.at(-1) ?? 0];
  return [
    {
      name: `lines over ${widest} columns`,
      before: '12 %',
      wanted: '0',
      now: `${((100 * wide) / lines.length).toFixed(1)} % (${wide})`,
      isMet: wide === 0,
    },
    {
      name: `largest file / files over ${longest} lines`,
      before: '709 / 10 over 500, at 100 columns',
      wanted: `≤ ${longest} / 0`,
      now: `${largest[0]?.lines} / ${over}`,
      isMet: over === 0,
    },
    otherFiles(),
    {
      name: 'functions: p90, longest',
      before: '22, 80 at 100 columns',
      wanted: '≤ 20, ≤ 60',
      now: `${p90}, ${most}`,
      isMet: p90 <= 20 && most <= 60,
    },
  ];
}

/** Openings of comments, line comments too, in all that is no source of a package. */
function commentsElsewhere(): Measure {
  const { comments: all, relatives } = countOpenings(others().map(textOf));
  const share = (100 * relatives) / all;
  return {
    name: 'the same of tests, benchmarks, examples and scripts, How and line comments too',
    before: 'not measured',
    wanted: '≤ 2 %',
    now: `${share.toFixed(1)} % of ${all}`,
    isMet: share <= 2,
  };
}

/** Tests, benchmarks, examples and scripts: all that is no source of a package. */
function others(): readonly { readonly path: string; readonly lines: number }[] {
  const elsewhere = globSync('{browser-tests,docs}/**/*.{ts,tsx}', {
    cwd: repositoryRoot,
    exclude: ['**/node_modules/**', '**/fixtures/**'],
  }).map((path) => ({ path, lines: textOf({ path }).trimEnd().split('\n').length }));
  return [...tree.filter(({ path }) => !isSource(path)), ...elsewhere].toSorted(
    (left, right) => right.lines - left.lines,
  );
}

function otherFiles(): Measure {
  const all = others();
  const over = all.filter(({ lines }) => lines > longest);
  const names = over.map(({ path, lines }) => `${lines} ${path.replace('packages/', '')}`);
  return {
    name: 'the same of tests, benchmarks, examples and scripts',
    before: '55 over 400, at 100 columns',
    wanted: `≤ ${longest} / 0`,
    now: `${all[0]?.lines} / ${over.length}${names.map((name) => `, ${name}`).join('')}`,
    isMet: over.length === 0,
  };
}

function folders(): Measure[] {
  const counts = new Map<string, number>();
  for (const { path } of tree.filter(({ path: each }) => each.startsWith('packages/')))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const crowded = [...counts].filter(([, count]) => count > 25).sort(([, a], [, b]) => b - a);
  const now = crowded
    .map(([folder, count]) => `${count} ${folder.replace('packages/', '')}`)
    .join(', ');
  return [
    {
      name: 'folders with more than 25 files, tests too',
      before: '80 engine, 121 core/test',
      wanted: 'none',
      now: now || 'none',
      isMet: crowded.length === 0,
    },
  ];
}

function graph(): Measure[] {
  const circles = importCircles(core);
  const sizesOf = circles.map(({ length }) => length).sort((a, b) => b - a);
  return [
    {
      name: 'circles over all imports of core',
      before: '15',
      wanted: '0',
      now: circles.length === 0 ? '0' : `${circles.length} (${sizesOf.join(', ')} files)`,
      isMet: circles.length === 0,
    },
  ];
}

async function walk(): Promise<Measure[]> {
  const { climbs, files } = await walkOfRun(`${repositoryRoot}packages/core/src/`);
  return [
    {
      name: "files that lead app.run(agent, 'hi') to the model and the store",
      before: '11 (72 read along it)',
      wanted: '≤ 45',
      now: String(files.length),
      isMet: files.length <= 45,
    },
    {
      name: 'its calls into a wing above, but by four named ports',
      before: '4',
      wanted: '0',
      now: climbs.length === 0 ? '0' : climbs.join(', '),
      isMet: climbs.length === 0,
    },
  ];
}

function exported(): Measure {
  const index = textOf({ path: 'packages/core/src/index.ts' });
  const names = [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list.split(',').filter((name) => name.trim() !== ''),
  );
  return {
    name: 'exported names of adjutant',
    before: '368',
    wanted: '≤ 200',
    now: String(names.length),
    isMet: names.length <= 200,
  };
}

function print(rows: readonly Measure[]): void {
  const table = [
    ['', 'on 71dd7d3', 'wanted', 'now', ''],
    ...rows.map(({ name, before, wanted, now, isMet }) => [
      name,
      before,
      wanted,
      now,
      isMet ? 'ok' : 'MISSED',
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...table.map((row) => (row[column] ?? '').length)),
  );
  for (const row of table)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
}
