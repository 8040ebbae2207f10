/**
 * The crash tests: `npm run test:crash [-- --quick] [-- --only <text>]`. Each prints what failed; the last line says how many cases there were.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, parseArgs } from 'node:util';
import { newSchema, reasonToSkip, serverUrl } from '../postgres/server.ts';
import { killAtRandom } from './kills.ts';
import { type Case, casesOf } from './matrix.ts';
import { scenarios } from './scenarios.ts';
import { openMatrixStores } from './stores.ts';
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
/** A case that takes longer hangs. */
const longestMs = 60_000;

let cases = 0;
let failed = 0;

async function runCase({ name, run }: Case): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const hanging = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it has not ended after ${longestMs / 1000} seconds`)), longestMs);
  });
  try {
    if (await Promise.race([run(), hanging])) cases++;
  } catch (error) {
    cases++;
    failed++;
    console.error(`FAILED ${name}\n${error instanceof Error ? (error.stack ?? error.message) : inspect(error)}\n`);
  } finally {
    clearTimeout(timer);
  }
}

/** Takes cases as they are found, some at the same time. */
async function runAll(found: AsyncGenerator<Case>, atOnce: number): Promise<void> {
  const worker = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await found.next();
      if (done === true) return;
      await runCase(value);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
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
  await Promise.all(
    Object.entries(addresses).map(async ([storeName, address]) => {
      const name = `killed processes, ${storeName}`;
      if (!name.includes(values.only)) return;
      cases += kills;
      try {
        const report = await killAtRandom({ storeName, address, directory, kills, random: randomFrom(seed) });
        console.log(`${name}: ${inspect(report, { breakLength: Number.POSITIVE_INFINITY })}`);
      } catch (error) {
        failed++;
        console.error(`FAILED ${name}, --seed ${seed}\n${error instanceof Error ? (error.stack ?? error.message) : inspect(error)}\n`);
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
      if (!`${scenario}, ${matrixStore.name}`.includes(values.only)) continue;
      await runAll(
        casesOf({ scenario, make, storeName: matrixStore.name, openStore: matrixStore.store, nth: values.quick ? 4 : 1 }),
        matrixStore.atOnce,
      );
    }
    await matrixStore.close();
    console.log(`${matrixStore.name}: ${cases - before} cases in ${Math.round((performance.now() - began) / 1000)} s`);
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
