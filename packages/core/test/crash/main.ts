/**
 * The crash tests: `npm run test:crash [-- --quick] [-- --only <text>]`. Each prints what failed;
 * the last line says how many cases there were.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, parseArgs } from 'node:util';
import {
  type CrashManner,
  CrashPointsError,
  crashPoints,
  type MakeScenario,
} from 'adjutant/testing';
import { newSchema, reasonToSkip, serverUrl } from '../stores/postgres/server.ts';
import { bundleWorker, killAtRandom } from './kills.ts';
import { scenarios } from './scenarios.ts';
import { type MatrixStore, openMatrixStores } from './stores.ts';
import type { StoreAddress } from './worker-store.ts';

const { values } = parseArgs({
  options: {
    /** A fourth of the places, a fifth of the kills. */
    quick: { type: 'boolean', default: false },
    /** Only what has this in its name. */
    only: { type: 'string', default: '' },
    kills: { type: 'string' },
    seed: { type: 'string' },
  },
});
const manners: readonly CrashManner[] = ['copied', 'given-back', 'before', 'after', 'twice'];

let cases = 0;
let failed = 0;

async function runScenario(
  name: string,
  make: MakeScenario,
  { store, atOnce }: MatrixStore,
): Promise<void> {
  try {
    cases += (
      await crashPoints(make, {
        store,
        manners,
        appends: 'batched',
        every: values.quick ? 4 : 1,
        atOnce,
      })
    ).points;
  } catch (error) {
    const { points, failures } =
      error instanceof CrashPointsError ? error.data : { points: 1, failures: [undefined] };
    cases += points as number;
    failed += (failures as readonly unknown[]).length;
    console.error(
      'FAILED ' +
        `${name}\n${error instanceof Error ? (error.stack ?? error.message) : inspect(error)}\n`,
    );
  }
}

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Kills processes on both stores at the same time. */
async function runKills(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'adjutant-kills-'));
  const kills = Number(values.kills ?? (values.quick ? 40 : 200));
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const schema = reasonToSkip === undefined ? newSchema() : undefined;
  const addresses: Record<string, StoreAddress> = { SQLite: { file: join(directory, 'kills.db') } };
  if (schema !== undefined) addresses['PostgreSQL'] = { url: serverUrl, schema: schema.name };
  const nameOf = (storeName: string): string => `killed processes, ${storeName}`;
  const taken = Object.entries(addresses).filter(([storeName]) =>
    nameOf(storeName).includes(values.only),
  );
  const program = taken.length === 0 ? '' : await bundleWorker();
  await Promise.all(
    taken.map(async ([storeName, address]) => {
      const name = nameOf(storeName);
      cases += kills;
      try {
        const report = await killAtRandom({
          program,
          storeName,
          address,
          directory,
          kills,
          random: randomFrom(seed),
        });
        console.log(`${name}: ${inspect(report, { breakLength: Number.POSITIVE_INFINITY })}`);
      } catch (error) {
        failed++;
        console.error(
          `FAILED ${name}, --seed ` +
            `${seed}\n${error instanceof Error ? (error.stack ?? error.message) : inspect(error)}\n`,
        );
      }
    }),
  );
  await schema?.drop();
  rmSync(directory, { recursive: true, force: true });
}

async function runMatrix(): Promise<void> {
  for (const matrixStore of openMatrixStores()) {
    const began = performance.now();
    const before = cases;
    for (const [scenario, make] of Object.entries(scenarios)) {
      const name = `${scenario}, ${matrixStore.name}`;
      if (name.includes(values.only)) await runScenario(name, make, matrixStore);
    }
    await matrixStore.close();
    console.log(
      `${matrixStore.name}: ${cases - before} cases in ` +
        `${Math.round((performance.now() - began) / 1000)} s`,
    );
  }
}

process.on('unhandledRejection', (error) => {
  failed++;
  console.error('FAILED: a rejection that nobody handles', error);
});

await runMatrix();
await runKills();
console.log(`${cases} cases, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
