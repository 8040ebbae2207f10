/**
 * `npm run test:scheduler [-- --short]`: two worker processes on one PostgreSQL, 500 tasks of five
 * priorities from three tenants, one of which floods; workers are killed at random. It prints waits
 * by priority and shares. Then three processes fire cron triggers around changes of the clocks, on
 * SQLite and PostgreSQL. It ends with `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Runtime } from 'adjutant';
import type { TaskInfo, TaskPriority } from 'adjutant/scheduler';
import { bundleProgram } from '../../../../../scripts/bundle.ts';
import { repositoryRoot } from '../../../../../scripts/command.ts';
import { readEffects } from '../../crash/effect-file.ts';
import { newSchema, reasonToSkip, serverUrl } from '../../stores/postgres/server.ts';
import { type FiringPart, runFirings } from '../../triggers/load/firings.ts';
import { loadApp } from './load-app.ts';
import { roundMs, roundsOfTask, tenants, type WorkerOrder } from './load-order.ts';
import { readTaken } from './taken-tasks.ts';

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
const scale = values.short ? 0.4 : 1;
const slots = 4;
const workers = 2;
const fairPriorities = ['high', 'normal', 'low', 'background'] as const;
const failures: string[] = [];
let passed = 0;

function expectThat(what: string, isTrue: boolean, detail = ''): void {
  if (isTrue) passed += 1;
  else failures.push(`${what} ${detail}`);
  console.log(`${isTrue ? 'ok  ' : 'FAIL'} ${what}${detail === '' ? '' : `: ${detail}`}`);
}

if (reasonToSkip !== undefined) {
  console.log(`SKIPPED: ${reasonToSkip}`);
  console.log('0 passed, 0 failed');
  process.exit(process.env['CI'] === undefined ? 0 : 1);
}

const directory = mkdtempSync(join(tmpdir(), 'adjutant-load-'));
const schema = newSchema();
const order: WorkerOrder = {
  store: { url: serverUrl, schema: schema.name },
  effects: join(directory, 'effects.jsonl'),
  taken: join(directory, 'taken.jsonl'),
  slots,
};
const app = loadApp(order, false);
try {
  await run();
  for (const part of firingParts(values.short)) await runFirings(part, expectThat);
} finally {
  await app.close();
  await schema.drop();
  rmSync(directory, { recursive: true, force: true });
}
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

/** A week around each change of the clocks, on both stores; a part of it in the short form. */
function firingParts(isShort: boolean): readonly FiringPart[] {
  const [spring, autumn] = ['2027-03-11T00:00Z', '2027-11-04T00:00Z'];
  if (isShort)
    return [
      { store: 'sqlite', from: '2027-03-13T12:00Z', days: 2, patterns: 6, kills: 2 },
      { store: 'postgres', from: '2027-11-06T12:00Z', days: 2, patterns: 6, kills: 2 },
    ];
  const whole = { days: 7, patterns: 17, kills: 12 };
  return (['sqlite', 'postgres'] as const).flatMap((store) =>
    [spring, autumn].map((from) => ({ store, from, ...whole })),
  );
}

async function run(): Promise<void> {
  const ids = new Map<string, Runtime>();
  // 300, 100 and 100 tasks in the long form, spread over the priorities.
  const counts = { flood: 300, one: 100, two: 100 };
  const job = app.runnables[0];
  if (job === undefined) throw new Error('There is no runnable.');
  for (const tenant of tenants) {
    const own = app.tenants.get(tenant);
    const each = Math.round((counts[tenant] * scale) / fairPriorities.length);
    for (let i = 0; i < each; i++)
      for (const priority of fairPriorities)
        ids.set((await own.submit(job, `${i}`, { priority, requester: tenant })).id, own);
  }
  const isOver = { value: false };
  const killed = keepWorkersBusy(isOver);
  const realtime: string[] = [];
  for (let i = 0; i < 20 * scale; i++) {
    await wait(100);
    const own = app.tenants.get('one');
    const task = await own.submit(job, 'now', { priority: 'realtime', requester: 'one' });
    ids.set(task.id, own);
    realtime.push(task.id);
  }
  const ended = await Promise.all([...ids].map(([id, own]) => own.tasks.wait(id)));
  isOver.value = true;
  const kills = await killed;
  const tasks = await Promise.all([...ids].map(([id, own]) => own.tasks.get(id)));
  report(tasks, kills);
  judge(ended, tasks, new Set(realtime));
}

/** Keeps so many workers alive and kills one at random from time to time. */
async function keepWorkersBusy(isOver: { readonly value: boolean }): Promise<number> {
  const program = await bundleProgram(
    fileURLToPath(new URL('./load-worker.ts', import.meta.url)),
    join(repositoryRoot, 'node_modules/.cache/load-worker'),
  );
  const start = () =>
    spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const alive = Array.from({ length: workers }, start);
  let kills = 0;
  while (!isOver.value) {
    await wait(3_000 + Math.random() * 3_000);
    const place = Math.floor(Math.random() * workers);
    alive[place]?.kill('SIGKILL');
    kills += 1;
    alive[place] = start();
  }
  for (const worker of alive) {
    const exited = once(worker, 'exit');
    worker.kill('SIGKILL');
    await exited;
  }
  return kills;
}

function waitOf({ startedAt = 0, submittedAt }: TaskInfo): number {
  return startedAt - submittedAt;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[numbers.length >> 1] ?? 0;
}

function report(tasks: readonly TaskInfo[], kills: number): void {
  console.log(`${tasks.length} tasks, ${kills} workers killed`);
  for (const priority of ['realtime', ...fairPriorities] as readonly TaskPriority[]) {
    const waits = tasks.filter((task) => task.priority === priority).map(waitOf);
    console.log(
      `  ${priority}: ${waits.length} tasks, median wait ${median(waits)} ms, ` +
        `longest ${Math.max(...waits)} ms`,
    );
  }
}

function judge(
  ended: readonly { readonly id: string; readonly status: string }[],
  tasks: readonly TaskInfo[],
  realtime: ReadonlySet<string>,
): void {
  const wrong = ended.filter(({ status }) => status !== 'completed');
  expectThat('every task ends', wrong.length === 0, `${wrong.length} did not complete`);
  const effects = readEffects(order.effects);
  const keys = new Set(effects.map(({ key }) => key));
  const wanted = tasks.length * (roundsOfTask - 1);
  expectThat('every effect has happened', keys.size === wanted, `${keys.size} of ${wanted}`);
  const waits = fairPriorities.map((priority) =>
    median(tasks.filter((task) => task.priority === priority).map(waitOf)),
  );
  const isOrdered = waits.every((one, i) => i === 0 || one >= (waits[i - 1] ?? 0));
  expectThat('waits are ordered by priority', isOrdered, waits.join(' ≤ '));
  for (const priority of fairPriorities) judgeShares(tasks, priority);
  judgeRealtime(tasks, realtime);
}

/**
 * While all tenants have tasks of a priority that wait, each gets a third of what is taken. A task
 * that is taken again, after its worker was killed, uses the share of its tenant again.
 */
function judgeShares(tasks: readonly TaskInfo[], priority: TaskPriority): void {
  const own = tasks.filter((task) => task.priority === priority);
  const sessions = new Set(own.map(({ session }) => session));
  const waiting = new Map(own.map(({ session, tenant }) => [session, tenant]));
  const counts: Record<string, number> = {};
  let considered = 0;
  for (const { session, tenant } of readTaken(order.taken)) {
    if (!sessions.has(session)) continue;
    const left = new Set(waiting.values());
    if (tenants.some((one) => !left.has(one))) break;
    waiting.delete(session);
    counts[tenant] = (counts[tenant] ?? 0) + 1;
    considered += 1;
  }
  const worst = Math.max(
    ...tenants.map((tenant) => Math.abs((counts[tenant] ?? 0) / considered - 1 / 3) * 3),
  );
  // Counting allows one task more or less of each tenant, and one of a killed worker.
  const allowed = 0.1 + 4 / considered;
  expectThat(
    `shares of ${priority} hold`,
    worst <= allowed,
    `${tenants.map((tenant) => `${tenant} ${counts[tenant] ?? 0}`).join(', ')} of ${considered}`,
  );
}

/** Between its submission and its begin, other tasks begin at most once in each place. */
function judgeRealtime(tasks: readonly TaskInfo[], realtime: ReadonlySet<string>): void {
  const begins = tasks.filter(({ id }) => !realtime.has(id)).map(({ startedAt = 0 }) => startedAt);
  const own = tasks.filter(({ id }) => realtime.has(id));
  const waits = own.map(waitOf);
  const passedBy = own.map(
    ({ startedAt = 0, submittedAt }) =>
      begins.filter((at) => at > submittedAt + roundMs * roundsOfTask && at < startedAt).length,
  );
  console.log(`  realtime tasks were passed by ${Math.max(0, ...passedBy)} others at most`);
  expectThat(
    'realtime tasks begin before those that wait',
    median(waits) <= median(tasks.filter(({ id }) => !realtime.has(id)).map(waitOf)),
    `median ${median(waits)} ms`,
  );
}
