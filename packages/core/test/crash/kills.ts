import { deepStrictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Event, Store } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { bundleProgram } from '../../../../scripts/bundle.ts';
import { repositoryRoot } from '../../../../scripts/command.ts';
import { type Effect, readEffects } from './effect-file.ts';
import type { WorkerOrder } from './killed-worker.ts';
import { connect, type StoreAddress } from './worker-store.ts';

const sessionsAtOnce = 3;
const iterations = 10;
const items = Array.from({ length: 20 }, (_, i) => `did item ${i}`);
/** Milliseconds after a process was ready to work within which it is killed. */
const longestLife = 200;

export interface KillPlan {
  /** Path of the bundled worker, see `bundleWorker`. */
  readonly program: string;
  readonly storeName: string;
  readonly address: StoreAddress;
  readonly directory: string;
  readonly kills: number;
  /** Number from 0 to 1, from a seed. */
  readonly random: () => number;
}

export interface KillReport {
  readonly kills: number;
  readonly runs: number;
  readonly effects: number;
  /**
   * Calls of which nobody knows whether they took effect: they were cut off, and may not be
   * repeated.
   */
  readonly unknown: number;
  /** Runs that failed by such an effect, and were reopened. */
  readonly repaired: number;
}

/** Starts a worker and resolves when it is about to begin. */
async function startWorker(
  order: WorkerOrder,
  { program, directory }: KillPlan,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(directory, 'compiled') },
  });
  const [ended] = await Promise.race([
    once(child.stdout, 'data').then(() => []),
    once(child, 'exit'),
  ]);
  if (ended !== undefined) throw new Error(`The worker ended with code ${ended} before it began.`);
  return child;
}

/** Bundles the worker: most of the time of a process that is killed soon is its start. */
export function bundleWorker(): Promise<string> {
  const source = fileURLToPath(new URL('./killed-worker.ts', import.meta.url));
  return bundleProgram(source, join(repositoryRoot, 'node_modules/.cache/killed-worker'));
}

/** Kills a process at a random moment. Returns whether it was still at work. */
async function killSometime(child: ChildProcess, random: () => number): Promise<boolean> {
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  await Promise.race([wait(random() * longestLife), exited]);
  child.kill('SIGKILL');
  const [code, signal] = await exited;
  if (code !== null && code !== 0) throw new Error(`The worker ended with code ${code}.`);
  return signal === 'SIGKILL';
}

/**
 * Kills processes at random moments while they work, each time letting another one go on, until
 * there were so many kills and all runs have ended; then compares what the ledgers say with what
 * was done outside.
 * @throws AssertionError, Error
 */
export async function killAtRandom(plan: KillPlan): Promise<KillReport> {
  const { storeName, address, directory, kills, random } = plan;
  const effects = join(directory, `${storeName}-effects.jsonl`);
  const sessions: string[] = [];
  let killed = 0;
  while (killed < kills) {
    const batch = Array.from({ length: sessionsAtOnce }, (_, i) => `s${sessions.length + i}`);
    sessions.push(...batch);
    const order: WorkerOrder = { store: address, sessions: batch, effects, iterations };
    for (;;) {
      const child = await startWorker(order, plan);
      const isKilled = killed < kills ? await killSometime(child, random) : await endOf(child);
      if (!isKilled) break;
      killed++;
    }
  }
  const store = connect(address);
  const done = existsSync(effects) ? readEffects(effects) : [];
  let unknown = 0;
  let repaired = 0;
  for (const session of sessions) {
    const events = await readAll(store, session);
    if (events.some(({ type }) => type === 'invocation_reopen')) repaired++;
    unknown += checkSession(
      session,
      events,
      done.filter((effect) => effect.session === session),
    );
  }
  await store.close();
  return { kills: killed, runs: sessions.length, effects: done.length, unknown, repaired };
}

async function endOf(child: ChildProcess): Promise<false> {
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The worker ended with code ${code}.`);
  return false;
}

async function readAll(store: Store, session: string): Promise<readonly Event[]> {
  const ledgers: LedgerStore = store.for({ tenant: 'default', app: 'kills' });
  const events: Event[] = [];
  for await (const page of ledgers.read(session)) events.push(...page);
  return events;
}

/** @returns how many calls are of unknown outcome */
function checkSession(session: string, events: readonly Event[], done: readonly Effect[]): number {
  const where = (what: string): string => `session "${session}": ${what}`;
  deepStrictEqual(
    events.map(({ seq }) => seq),
    events.map((_, i) => i + 1),
    where('the numbers of its events'),
  );
  const end = events.findLast(
    (event) => event.type === 'invocation_end' && event.invocationId === 'run',
  );
  const outcome = end?.type === 'invocation_end' ? [end.status, end.output, end.error] : undefined;
  deepStrictEqual(
    outcome,
    ['completed', [iterations * 2, items], undefined],
    where(`its outcome, after ${JSON.stringify(failuresIn(events))}`),
  );
  checkWaits(where, events);
  const byCall = Map.groupBy(done, ({ callId }) => callId);
  const attempts = Map.groupBy(
    events.filter((event) => event.type === 'tool_attempt'),
    ({ callId }) => callId,
  );
  for (const [callId, effects] of byCall)
    checkCall(where(`"${callId}"`), effects, attempts.get(callId)?.length ?? 0);
  let unknown = 0;
  const settled = new Set<string>();
  for (const event of events) {
    // An effect that is tried again after a reopening is settled again.
    if (event.type === 'invocation_reopen')
      for (const callId of event.effects ?? [])
        if (!isToldDone(events.slice(0, event.seq), callId)) settled.delete(callId);
    if (event.type !== 'tool_result' || !event.settled) continue;
    const { callId, name, result } = event;
    if (settled.has(callId)) throw new Error(where(`"${callId}" was settled twice`));
    settled.add(callId);
    const times = byCall.get(callId)?.length ?? 0;
    if (name === 'delegate') continue;
    if (name.startsWith('once') && times > 1)
      throw new Error(where(`"${callId}" may be done once only, and was done ${times} times`));
    if (result.status === 'success' && times === 0)
      throw new Error(where(`"${callId}" has succeeded and was not done`));
    if (result.status !== 'success' && result.status !== 'unknown')
      throw new Error(where(`"${callId}" ended as ${result.status}`));
    if (result.status === 'unknown') unknown++;
  }
  for (const callId of attempts.keys())
    if (!settled.has(callId)) throw new Error(where(`"${callId}" was not settled`));
  return unknown;
}

/** True for an effect that was cut off, and of which a process has told that it happened. */
function isToldDone(events: readonly Event[], callId: string): boolean {
  return events.some(
    (event) =>
      event.type === 'tool_result' &&
      event.callId === callId &&
      event.late === true &&
      event.result.status === 'success',
  );
}

/** The question of a run is answered once, and its sleep does not end before its time. */
function checkWaits(where: (what: string) => string, events: readonly Event[]): void {
  const answers = events.filter(({ type }) => type === 'tool_input');
  deepStrictEqual(answers.length, 1, where('the answers to its question'));
  const sleep = events.find((event) => event.type === 'invocation_start' && event.kind === 'sleep');
  const until = sleep?.type === 'invocation_start' ? sleep.input?.data : undefined;
  const end = events.find(
    (event) => event.type === 'invocation_end' && event.invocationId === sleep?.invocationId,
  );
  const ends = Number((until as { readonly until?: number } | undefined)?.until);
  if (!(end !== undefined && end.at >= ends)) throw new Error(where('its sleep ended too early'));
}

function failuresIn(events: readonly Event[]): readonly unknown[] {
  return events.flatMap((event) =>
    event.type === 'invocation_end' && event.error !== undefined
      ? [[event.invocationId, event.error]]
      : [],
  );
}

/**
 * An attempt enters its tool once. What may be repeated begins before its attempt is durable: when
 * that was lost with its process, the next process makes an attempt with the same number and key.
 */
function checkCall(where: string, effects: readonly Effect[], attempts: number): void {
  const entries = effects.map(({ pid, attempt }) => `${pid} ${attempt}`);
  deepStrictEqual(
    new Set(entries).size,
    entries.length,
    `${where}: attempts of one process that ran twice`,
  );
  const numbers = new Set(effects.map(({ attempt }) => attempt));
  if (numbers.size > attempts)
    throw new Error(`${where} ran in ${numbers.size} attempts, and ${attempts} are recorded`);
  const keys = new Set(effects.map(({ key }) => key));
  deepStrictEqual(keys.size, 1, `${where}: idempotency keys`);
}
