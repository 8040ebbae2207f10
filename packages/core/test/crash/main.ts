/**
 * The crash tests: `npm run test:crash [-- --quick] [-- --only <text>]`. Each prints what failed; the last line says how many cases there were.
 */
import { inspect, parseArgs } from 'node:util';
import { type Case, casesOf } from './matrix.ts';
import { scenarios } from './scenarios.ts';
import { openMatrixStores } from './stores.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } } });
/** A case that takes longer hangs. */
const longestMs = 60_000;

let cases = 0;
let failed = 0;

async function runCase({ name, run }: Case): Promise<void> {
  cases++;
  let timer: NodeJS.Timeout | undefined;
  const hanging = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it has not ended after ${longestMs / 1000} seconds`)), longestMs);
  });
  try {
    await Promise.race([run(), hanging]);
  } catch (error) {
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
console.log(`${cases} cases, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
