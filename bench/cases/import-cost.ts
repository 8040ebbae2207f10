import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Figure, type Figures, interleave } from '../measure.ts';
import { type Benchmark, ours, type Row } from '../row.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const empty = 'empty process';

interface Cost {
  readonly ms: number;
  readonly mebibytes: number;
}

/** Importing the package in a fresh process, above a process that imports nothing. */
export const importCost: Benchmark = {
  name: 'import-cost',
  notes: [
    'What is imported is the package as it is built, not its source. Peers: `ai`; ' +
      '`@langchain/langgraph/prebuilt`.',
  ],
  async run({ quick }) {
    const built = await buildCore();
    try {
      return await importRows(pathToFileURL(join(built, 'index.js')).href, quick ? 5 : 15);
    } finally {
      await rm(built, { recursive: true, force: true });
    }
  },
};

async function importRows(entry: string, repetitions: number): Promise<Row[]> {
  const modules: Readonly<Record<string, string | undefined>> = {
    [empty]: undefined,
    [ours]: entry,
    'AI SDK': 'ai',
    'LangGraph.js': '@langchain/langgraph/prebuilt',
  };
  const costs = new Map<string, Cost[]>(Object.keys(modules).map((name) => [name, []]));
  const subjects = Object.entries(modules).map(([name, module]) => ({
    name,
    measure: async (): Promise<number> => {
      const cost = await costOf(module);
      costs.get(name)?.push(cost);
      return cost.ms;
    },
  }));
  await interleave(subjects, repetitions);
  return [
    {
      work: 'importing the package',
      unit: 'ms',
      figures: aboveEmpty(costs, 'ms'),
      ceiling: { limit: 30 },
    },
    {
      work: 'memory after importing the package',
      unit: 'MiB',
      figures: aboveEmpty(costs, 'mebibytes'),
      ceiling: { limit: 10 },
    },
  ];
}

/** The whole life of a process, and its memory at the end. */
async function costOf(module: string | undefined): Promise<Cost> {
  const code =
    `${module === undefined ? '' : `await import(${JSON.stringify(module)});`} ` +
    'console.log(process.memoryUsage.rss())';
  const start = performance.now();
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: import.meta.dirname,
  });
  return { ms: performance.now() - start, mebibytes: Number(stdout) / 2 ** 20 };
}

/**
 * Quantile against quantile, as with other differences; the median of the empty process would be
 * right only for our median.
 */
function aboveEmpty(costs: ReadonlyMap<string, readonly Cost[]>, measure: keyof Cost): Figures {
  const figure = (name: string): Figure =>
    new Figure((costs.get(name) ?? []).map((cost) => cost[measure]));
  const base = figure(empty);
  const names = [...costs.keys()].filter((name) => name !== empty);
  return new Map(
    names.map((name) => [
      name,
      new Figure(figure(name).values.map((value, i) => value - (base.values[i] as number))),
    ]),
  );
}

/** Bundles the core as it is published, to where its dependencies are found. */
async function buildCore(): Promise<string> {
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'adjutant-bench-'));
  const bundler = pathToFileURL(join(root, 'scripts/bundle.ts')).href;
  const args = JSON.stringify([join(root, 'packages/core'), folder]).slice(1, -1);
  const code =
    `const { bundleEntries } = await import(${JSON.stringify(bundler)}); await ` +
    `bundleEntries(${args});`;
  await run(process.execPath, ['--input-type=module', '--eval', code]);
  return folder;
}
