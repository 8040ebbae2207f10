/**
 * `npm run test:chaos [-- --short] [--engine embedded|temporal]`: three workers with different clocks and an
 * engine that loses, repeats and delays wakes, on a PostgreSQL, a Redis and a Temporal of their own. While
 * tasks come in, workers are killed, frozen and replaced, and both servers go away. No task may be
 * lost, no payment made twice, and a cancel ends its run within a second. It ends with
 * `N passed, N failed`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Runtime } from 'adjutant';
import { repositoryRoot } from '../../../../scripts/command.ts';
import { Cancels } from './cancels.ts';
import { chaosApp } from './chaos-app.ts';
import { engineOfSubmitter } from './engine-of-order.ts';
import { calm, faults } from './faults.ts';
import { Fleet } from './fleet.ts';
import { Load } from './load.ts';
import { cancelWithinMs, type EngineName, engineNames, type WorkerOrder } from './order.ts';
import { type Servers, startServers } from './servers.ts';
import { verdict } from './verdict.ts';

const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, engine: { type: 'string' } },
});
const turns = values.short ? 1 : 8;
const perSecond = values.short ? 8 : 20;
const failures: string[] = [];
let passed = 0;

function expectThat(what: string, isTrue: boolean, detail = ''): void {
  if (isTrue) passed += 1;
  else failures.push(`${what} ${detail}`);
  console.log(`${isTrue ? 'ok  ' : 'FAIL'} ${what}${detail === '' ? '' : `: ${detail}`}`);
}

const chosen = engineNames.filter((name) => values.engine === undefined || values.engine === name);
if (chosen.length === 0)
  throw new Error(`There is no engine "${values.engine}". There are ${engineNames.join(', ')}.`);
for (const engine of chosen) await run(engine);
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

async function run(engine: EngineName): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'adjutant-chaos-'));
  const servers = await startServers(engine, directory);
  const order: WorkerOrder = {
    engine,
    root: repositoryRoot,
    store: { url: servers.postgres.url, schema: 'chaos' },
    redis: servers.redis.url,
    temporal: servers.engine?.url ?? '',
    effects: join(directory, 'effects.jsonl'),
    version: 1,
    skewMs: 0,
  };
  const app = chaosApp(order, await engineOfSubmitter(order));
  const fleet = await Fleet.start(order);
  try {
    await disturb(engine, app, fleet, servers, order);
    expectThat(`${engine}: workers that are told to end do so`, fleet.stuck === 0);
  } finally {
    await fleet.stop();
    await app.close();
    await servers.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Lets all faults happen while tasks come in, and judges what has become of them. */
async function disturb(
  engine: EngineName,
  app: Runtime,
  fleet: Fleet,
  servers: Servers,
  { effects }: WorkerOrder,
): Promise<void> {
  const load = new Load(app, perSecond);
  const cancels = new Cancels(app);
  load.begin();
  await calm();
  for (let turn = 0; turn < turns; turn++)
    for (const { name, happen, needsEngine } of faults) {
      if (needsEngine === true && servers.engine === undefined) continue;
      console.log(`${engine}: ${name}, after ${load.submitted.length} tasks`);
      await happen({ fleet, ...servers });
      await calm();
      await cancels.measure();
    }
  await load.end();
  judge(engine, await verdict(app, load.submitted, effects), cancels);
}

function judge(
  engine: EngineName,
  { tasks, lost, missing, doubled, again, damaged }: Awaited<ReturnType<typeof verdict>>,
  { latenciesMs, wrong }: Cancels,
): void {
  const longest = Math.max(...latenciesMs);
  console.log(
    `${engine}: ${tasks} tasks, ${again} calls made again with their keys, ` +
      `${latenciesMs.length} cancels: ${latenciesMs.toSorted((a, b) => a - b).join(', ')} ms`,
  );
  expectThat(`${engine}: no task is lost`, lost.length === 0, `${lost.length} of ${tasks}`);
  for (const one of lost.slice(0, 10)) console.log(`  ${one}`);
  expectThat(`${engine}: no payment is missing`, missing === 0, `${missing}`);
  expectThat(`${engine}: no payment is made twice`, doubled === 0, `${doubled}`);
  expectThat(`${engine}: each ledger is whole`, damaged.length === 0, damaged[0] ?? '');
  expectThat(`${engine}: all that is cancelled ends as cancelled`, wrong === 0, `${wrong} did not`);
  expectThat(
    `${engine}: a cancel ends its run within ${cancelWithinMs} ms`,
    longest <= cancelWithinMs,
    `${longest} ms at most`,
  );
}
