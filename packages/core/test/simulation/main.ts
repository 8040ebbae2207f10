/**
 * `npm run simulate`: simulates drawn programs under drawn faults. Every seed is run twice, and once
 * without faults. Ends with `N cases, N failed`; a case is a seed. Seeds that no process reports,
 * because it died, have failed.
 *
 *     npm run simulate -- --seed 42 --hours 1000   seeds from 42 on, 1,000 hours in all
 *     npm run simulate -- --short                  fixed seeds, within a minute
 *     npm run simulate                             fresh seeds, which it prints
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { textOf } from './program.ts';
import { simulatePrograms, smallestFailure } from './simulate-programs.ts';

const hoursPerSeed = 10;
const defaultHours = 1_000;
/** Larger seeds would repeat the stories of smaller ones. */
const largestSeed = 2 ** 32 - 1;
/** Seeds of the short form: always the same, so that nothing fails by chance. */
const short = { seed: 1, seeds: 40 };

/** Sums over seeds, which processes report to each other as one line of JSON a seed. */
interface SeedLine {
  readonly seed: number;
  readonly hours: number;
  readonly events: number;
  readonly steps: number;
  readonly compared: number;
  readonly programs: number;
  readonly comparedUsers: number;
  readonly users: number;
  readonly faults: number;
  readonly cpuMs: number;
  readonly broken: readonly string[];
}

const values = argumentsOf(process.argv.slice(2));

if (values.worker !== undefined)
  await work(values.worker.split(',').map((text) => whole('worker', text)));
else await simulateAll();

function argumentsOf(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        hours: { type: 'string' },
        short: { type: 'boolean', default: false },
        story: { type: 'boolean', default: false },
        worker: { type: 'string' },
        seeds: { type: 'string' },
      },
    }).values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

/** Ends the process because of its arguments. */
function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(2);
}

/** Simulates seeds one by one, and writes a line for each. */
async function work(seeds: readonly number[]): Promise<void> {
  for (const seed of seeds) {
    const before = process.cpuUsage();
    const { outcome, compared, comparedUsers } = await simulatePrograms(seed, hoursPerSeed);
    const { system, user } = process.cpuUsage(before);
    const line: SeedLine = {
      seed,
      hours: outcome.hours,
      events: outcome.events,
      steps: outcome.steps,
      compared,
      programs: outcome.ends.length,
      comparedUsers,
      users: Object.keys(outcome.shared).length,
      faults: outcome.faults.length,
      cpuMs: (system + user) / 1_000,
      broken: outcome.broken.map(({ detail, rule }) => `${rule}: ${detail}`),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

async function simulateAll(): Promise<void> {
  if (values.seeds !== undefined && values.hours !== undefined)
    refuse('--seeds and --hours both say how much is simulated: leave out one of them.');
  const own = (['seed', 'seeds', 'hours'] as const).find((name) => values[name] !== undefined);
  if (values.short && own !== undefined)
    refuse(`--short has fixed seeds and hours: leave out --${own}, or --short.`);
  const first = values.short
    ? short.seed
    : values.seed === undefined
      ? (Date.now() % 1_000_000_000) + 1
      : whole('seed', values.seed);
  const hours = values.hours === undefined ? defaultHours : whole('hours', values.hours);
  const count = values.short
    ? short.seeds
    : values.seeds === undefined
      ? Math.ceil(hours / hoursPerSeed)
      : whole('seeds', values.seeds);
  if (first + count - 1 > largestSeed)
    refuse(`Seeds end at ${largestSeed}: ${first} to ${first + count - 1} go beyond.`);
  process.stdout.write(`Seeds ${first} to ${first + count - 1}, ${hoursPerSeed} hours each.\n`);
  const jobs = Math.min(availableParallelism(), count);
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  const lines = await Promise.all(
    Array.from({ length: jobs }, (_, job) =>
      runWorker(seeds.filter((_, index) => index % jobs === job)),
    ),
  );
  const done = lines.flat();
  const failed = done.filter(({ broken }) => broken.length > 0);
  for (const { seed } of failed.slice(0, 3)) await tell(seed);
  summarise(done);
  const unreported = count - done.length;
  process.stdout.write(`${count} cases, ${failed.length + unreported} failed\n`);
  if (failed.length + unreported > 0) process.exitCode = 1;
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  return refuse(`--${name} must be a whole number from 1, not "${text}".`);
}

/** Simulates seeds in a process of its own. */
async function runWorker(seeds: readonly number[]): Promise<readonly SeedLine[]> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, import.meta.filename, '--worker', seeds.join(',')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const done: SeedLine[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as SeedLine;
    done.push(line);
    for (const broken of line.broken.slice(0, 3))
      process.stdout.write(`seed ${line.seed}: ${broken}\n`);
  }
  const [next] = seeds.slice(done.length);
  if (next !== undefined)
    process.stdout.write(
      `seed ${next}: its process ended (${await ended}) before it had reported this seed; ` +
        `${seeds.length - done.length} of its seeds have failed\n` +
        `  again: npm run simulate -- --seed ${next} --seeds 1\n`,
    );
  return done;
}

/** Prints the smallest programs and the shortest story that show a failure. */
async function tell(seed: number): Promise<void> {
  const outcome = await simulatePrograms(seed, hoursPerSeed);
  const { failure, programs } = await smallestFailure(outcome, hoursPerSeed);
  process.stdout.write(`\nThe shortest story of seed ${seed}:\n`);
  for (const program of programs) process.stdout.write(`  program ${textOf(program)}\n`);
  for (const fault of failure.faults) process.stdout.write(`  fault ${fault}\n`);
  for (const { detail, rule } of failure.broken.slice(0, 5))
    process.stdout.write(`  broken ${rule}: ${detail}\n`);
  const lines = values.story ? failure.story : failure.story.slice(-40);
  for (const line of lines) process.stdout.write(`    ${line}\n`);
  process.stdout.write(`  again: npm run simulate -- --seed ${seed} --seeds 1 --story\n\n`);
}

function share(part: number, whole: number): string {
  return `${Math.round((100 * part) / Math.max(1, whole))} %`;
}

function summarise(done: readonly SeedLine[]): void {
  const sum = (of: (line: SeedLine) => number): number =>
    done.reduce((total, line) => total + of(line), 0);
  const hours = Math.round(sum(({ hours: each }) => each));
  const [compared, programs] = [sum((line) => line.compared), sum((line) => line.programs)];
  const [comparedUsers, users] = [sum((line) => line.comparedUsers), sum((line) => line.users)];
  const cpu = sum(({ cpuMs }) => cpuMs) / 1_000;
  process.stdout.write(
    `${hours} simulated hours, ${sum(({ events }) => events)} events, ` +
      `${sum(({ faults }) => faults)} faults, ${sum(({ steps }) => steps)} steps, ` +
      `${cpu.toFixed(1)} s of processor time (each seed three times)\n` +
      `Compared with the same seeds without faults: ${share(compared, programs)} of ` +
      `${programs} ends, ${share(comparedUsers, users)} of ${users} states of users\n`,
  );
}
