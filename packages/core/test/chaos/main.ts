/**
 * `npm run test:chaos [-- --short] [--engine embedded]`: three workers with different clocks and an
 * engine that loses, repeats and delays wakes, on a PostgreSQL and a Redis of their own. While
 * tasks come in, workers are killed, frozen and replaced, and both servers go away. No task may be
 * lost, no payment made twice, and a cancel ends its run within a second. It ends with
 * `N passed, N failed`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../../../scripts/postgres-server.ts';
import { startRedis } from '../../../../scripts/redis-server.ts';
import { Cancels } from './cancels.ts';
import { chaosApp } from './chaos-app.ts';
import { calm, faults } from './faults.ts';
import { Fleet } from './fleet.ts';
import { Load } from './load.ts';
import { cancelWithinMs, type EngineName, type WorkerOrder } from './order.ts';
import { verdict } from './verdict.ts';

const engines: readonly EngineName[] = ['embedded'];
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

const chosen = engines.filter((name) => values.engine === undefined || values.engine === name);
if (chosen.length === 0)
  throw new Error(`There is no engine "${values.engine}". There are ${engines.join(', ')}.`);
for (const engine of chosen) await run(engine);
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

async function run(engine: EngineName): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'adjutant-chaos-'));
  const postgres = await startPostgres();
  let redis = await startRedis();
  const order: WorkerOrder = {
    engine,
    store: { url: postgres.url, schema: 'chaos' },
    redis: redis.url,
    effects: join(directory, 'effects.jsonl'),
    version: 1,
    skewMs: 0,
  };
  const port = Number(new URL(redis.url).port);
  const away = async (ms: number): Promise<void> => {
    await redis.stop();
    await wait(ms);
    redis = await startRedis(port);
  };
  const app = chaosApp(order, false);
  const fleet = await Fleet.start(order);
  try {
    const load = new Load(app, perSecond);
    const cancels = new Cancels(app);
    load.begin();
    await calm();
    for (let turn = 0; turn < turns; turn++)
      for (const { name, happen } of faults) {
        console.log(`${engine}: ${name}, after ${load.submitted.length} tasks`);
        await happen({ fleet, postgres, redis: { away } });
        await calm();
        await cancels.measure();
      }
    await load.end();
    judge(engine, await verdict(app, load.submitted, order.effects), cancels);
    expectThat(`${engine}: workers that are told to end do so`, fleet.stuck === 0);
  } finally {
    await fleet.stop();
    await app.close();
    await redis.stop();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
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
