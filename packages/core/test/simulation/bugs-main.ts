/**
 * `npm run simulate:bugs`: plants bugs in the sources one by one, and simulates seeds until one
 * fails. Ends with `N cases, N failed`; a case is a bug, and one that is not found has failed.
 *
 *     npm run simulate:bugs                              all bugs
 *     npm run simulate:bugs -- --only lease-not-renewed   one bug
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { mostSeeds, type PlantedBug } from './bugs/planted-bug.ts';
import { plantedBugs } from './planted-bugs.ts';

const simulator = new URL('main.ts', import.meta.url);
const planter = new URL('plant-bug.ts', import.meta.url);

/** Members of a line of the simulator's worker that count here. */
interface SeedLine {
  readonly seed: number;
  readonly cpuMs: number;
  readonly broken: readonly string[];
}

interface Search {
  readonly bug: PlantedBug;
  /** Seed at which it was found; `undefined`: it was not found. */
  readonly seed: number | undefined;
  /** Rule that was broken, or the last words of a process that ended. */
  readonly rule: string;
  readonly cpuMs: number;
}

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const bugs = plantedBugs.filter(
  ({ name }) => values.only === undefined || values.only.includes(name),
);
if (bugs.length === 0) {
  process.stderr.write(`There is no planted bug ${values.only?.join(', ')}.\n`);
  process.exit(2);
}
const width = Math.max(...bugs.map(({ name }) => name.length));
process.stdout.write(`${'bug'.padEnd(width)}  seed  seconds  broken rule\n`);
const searches = await searchAll(bugs);
const missed = searches.filter(({ seed }) => seed === undefined);
for (const { bug, rule } of missed)
  process.stdout.write(`${bug.name} was not found: ${bug.about} ${rule}\n`);
process.stdout.write(`${searches.length} cases, ${missed.length} failed\n`);
if (missed.length > 0) process.exitCode = 1;

/** Searches for all bugs, as many at a time as there are processors. */
async function searchAll(all: readonly PlantedBug[]): Promise<readonly Search[]> {
  const left = [...all];
  const done: Search[] = [];
  const takeNext = async (): Promise<void> => {
    for (let bug = left.shift(); bug !== undefined; bug = left.shift()) {
      const search = await searchFor(bug);
      done.push(search);
      const { cpuMs, rule, seed } = search;
      process.stdout.write(
        `${bug.name.padEnd(width)}  ${String(seed ?? '-').padStart(4)}  ` +
          `${(cpuMs / 1_000).toFixed(1).padStart(7)}  ${rule}\n`,
      );
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, takeNext));
  return done;
}

/** Simulates seeds from 1 on, in a process with the bug, until one fails. */
async function searchFor(bug: PlantedBug): Promise<Search> {
  const seeds = Array.from({ length: mostSeeds(bug) }, (_, index) => index + 1);
  const found = await firstFailure(seeds, bug);
  const { cpuMs, rule, seed } = found;
  if (seed === undefined) return { bug, seed, rule, cpuMs };
  // A seed that fails without the bug says nothing about it.
  const clean = await firstFailure([seed], undefined);
  return clean.seed === undefined
    ? { bug, seed, rule, cpuMs }
    : { bug, seed: undefined, rule: `Seed ${seed} fails without it too: ${clean.rule}.`, cpuMs };
}

interface Failure {
  readonly seed: number | undefined;
  readonly rule: string;
  readonly cpuMs: number;
}

/** Simulates seeds in a process of their own, with a bug if one is given, until one fails. */
async function firstFailure(
  seeds: readonly number[],
  bug: PlantedBug | undefined,
): Promise<Failure> {
  const planting = bug === undefined ? [] : ['--import', planter.href];
  const child = spawn(
    process.execPath,
    [...process.execArgv, ...planting, simulator.pathname, '--worker', seeds.join(',')],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...(bug === undefined ? {} : { PLANTED_BUG: bug.name }) },
    },
  );
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  let cpuMs = 0;
  let done = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as SeedLine;
    cpuMs += line.cpuMs;
    done++;
    const [broken] = line.broken;
    if (broken === undefined) continue;
    child.kill();
    await closed;
    return { seed: line.seed, rule: broken.slice(0, broken.indexOf(':')), cpuMs };
  }
  await closed;
  if (child.exitCode === 0) return { seed: undefined, rule: '', cpuMs };
  // A bug that ends the simulation itself is found too; a bug that cannot be planted is not.
  const isPlanted = done > 0 || !said.includes('cannot be planted');
  const error = said.split('\n').find((line) => /^\S*Error\b/.test(line)) ?? 'no message';
  return {
    seed: isPlanted ? seeds[done] : undefined,
    rule: `the process ends: ${error}`,
    cpuMs,
  };
}
