import { deepStrictEqual } from 'node:assert/strict';
import type { Event, EventOf, Store } from 'adjutant';
import { appendBoundaries, type Continued, continueFrom, runWhole, stopAndContinue } from '../recovery/crash-matrix.ts';
import { app, openPaths, Process } from '../recovery/process.ts';
import type { Execution, MakeScenario } from '../recovery/scenario.ts';
import { crashingStore, takingOver } from './crashing-store.ts';

/** One way to stop a run at one place, and to continue it. */
export interface Case {
  readonly name: string;
  /** Whether there was such a place. */
  run(): Promise<boolean>;
}

interface Place {
  readonly make: MakeScenario;
  readonly store: Store;
  readonly sessionId: string;
}

type Manner = 'crash' | 'given back' | 'cut';

/** What a stopped run must have in common with one that was not. */
async function check(whole: Continued, continued: Continued, { make, store, sessionId }: Place, stop: Manner): Promise<void> {
  const { compares = 'projection', isReporting = false, shared } = make();
  deepStrictEqual(continued.outcome.result, whole.outcome.result, 'the result');
  if (compares !== 'end') deepStrictEqual(continued.outcome.state, whole.outcome.state, 'the state');
  if (compares === 'projection') deepStrictEqual(continued.outcome.projection, whole.outcome.projection, 'the projection');
  deepStrictEqual(openPaths(continued.events), [], 'invocations without an end');
  deepStrictEqual(
    continued.events.map(({ seq }) => seq),
    continued.events.map((_, i) => i + 1),
    'the numbers of the events',
  );
  checkEffects(whole, continued, { isReporting, stop });
  // A copy of a ledger keeps what it writes to shared scopes to itself.
  if (shared === undefined || stop === 'cut') return;
  const stored = await store.for({ tenant: 'default', app }).readShared('user', sessionId);
  deepStrictEqual(Object.fromEntries(Object.entries(stored).map(([key, { value }]) => [key, value])), shared, 'the shared scope');
}

/** How often each call or effect was attempted. */
function countAttempts(events: readonly Event[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const event of events) if (event.type === 'tool_attempt') counts.set(event.callId, (counts.get(event.callId) ?? 0) + 1);
  return counts;
}

function countExecutions(executions: readonly Execution[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { callId } of executions) counts.set(callId, (counts.get(callId) ?? 0) + 1);
  return counts;
}

/**
 * Each attempt enters its tool once at most, a tool that reports is entered once in all, what succeeded has been, and what was settled is
 * not entered again (SEMANTICS B7).
 */
function checkEffects(whole: Continued, continued: Continued, { isReporting, stop }: { readonly isReporting: boolean; readonly stop: Manner }): void {
  const { events, executions, before = { executions: [], events: [] } } = continued;
  checkKeys(executions, before.events, events);
  const settledBefore = new Set(settledCalls(before.events).map(({ callId }) => callId));
  const [attempts, attemptsBefore] = [countAttempts(events), countAttempts(before.events)];
  const [after, first] = [countExecutions(executions), countExecutions(before.executions)];
  for (const [callId, times] of after) {
    // A tool that may be repeated begins before its attempt is durable: of the process that was cut off no more is known than what it left.
    const attempted = (attempts.get(callId) ?? 0) - (attemptsBefore.get(callId) ?? 0);
    if (times > attempted) throw new Error(`"${callId}" ran ${times} times after the stop, with ${attempted} attempts`);
    if (settledBefore.has(callId)) throw new Error(`"${callId}" was settled and ran again`);
    if (isReporting && times + (first.get(callId) ?? 0) > 1) throw new Error(`"${callId}" ran twice, and may not`);
  }
  const settled = settledCalls(events);
  deepStrictEqual(new Set(settled.map(({ callId }) => callId)).size, settled.length, 'calls that were settled twice');
  deepStrictEqual(new Set(settled.map(({ callId }) => callId)), new Set(attemptedCalls(events)), 'calls that were settled');
  if (stop === 'cut') return;
  const noted = new Set(whole.executions.map(({ callId }) => callId));
  for (const { callId, result } of settled) {
    const ran = after.has(callId) || first.has(callId);
    if (result.status === 'success' && noted.has(callId) && !ran) throw new Error(`"${callId}" has succeeded and did not run`);
  }
}

/** While nobody knows whether an attempt took effect, the next has its idempotency key. */
function checkKeys(executions: readonly Execution[], before: readonly Event[], all: readonly Event[]): void {
  const keys = new Map<string, string>();
  for (const event of before) {
    if (event.type === 'tool_attempt') keys.set(event.callId, event.key);
    if (event.type === 'tool_result' && event.effect === 'none') keys.delete(event.callId);
  }
  // What a person found out after the stop counts for the next attempt.
  const attempted = new Set<string>();
  for (const event of all.slice(before.length)) {
    if (event.type === 'tool_attempt') attempted.add(event.callId);
    if (event.type === 'tool_result' && event.effect === 'none' && !attempted.has(event.callId)) keys.delete(event.callId);
  }
  const repeated = executions.filter(({ callId }, i) => executions.findIndex((other) => other.callId === callId) === i && keys.has(callId));
  deepStrictEqual(
    repeated.map(({ callId, key }) => [callId, key]),
    repeated.map(({ callId }) => [callId, keys.get(callId)]),
    'idempotency keys',
  );
}

function settledCalls(events: readonly Event[]): readonly EventOf<'tool_result'>[] {
  return events.filter((event): event is EventOf<'tool_result'> => event.type === 'tool_result' && event.settled);
}

function attemptedCalls(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'tool_call' || event.type === 'tool_attempt' ? [event.callId] : []));
}

/** Where a process is gone: before or after its own `number`th append. */
interface Stop {
  readonly number: number;
  readonly when: 'before' | 'after';
}

/**
 * Stops a run at an append, continues it by another process on the same store, which may be stopped as well, and so on.
 * `undefined`: the first process has fewer appends.
 */
async function crashAt({ make, store, sessionId }: Place, stops: readonly Stop[]): Promise<Continued | undefined> {
  const executions: Execution[] = [];
  let events: readonly Event[] = [];
  for (const [i, { number, when }] of stops.entries()) {
    const crashing = crashingStore(takingOver(store), number, when);
    const process = new Process(make, crashing.store, { sessionId, events });
    const ended = await Promise.race([process.goOn(events), crashing.crashed]);
    if (ended !== undefined) {
      const outcome = await process.outcome(ended);
      if (i === 0) return undefined;
      return { outcome, events: await storedEvents(store, sessionId), executions: process.run.executions, before: { executions, events } };
    }
    // What it still does in this process, it would not have done.
    executions.push(...process.run.executions);
    events = await storedEvents(store, sessionId);
  }
  const last = new Process(make, takingOver(store), { sessionId, events });
  const result = await last.goOn(events);
  const outcome = await last.outcome(result);
  const stored = await storedEvents(store, sessionId);
  deepStrictEqual(stored, [...result.session.events], 'the stored events');
  return { outcome, events: stored, executions: last.run.executions, before: { executions, events } };
}

async function storedEvents(store: Store, sessionId: string): Promise<readonly Event[]> {
  const ledgers = store.for({ tenant: 'default', app });
  const events: Event[] = [];
  if ((await ledgers.head(sessionId)) === undefined) return events;
  for await (const page of ledgers.read(sessionId)) events.push(...page);
  return events;
}

export interface MatrixPart {
  readonly scenario: string;
  readonly make: MakeScenario;
  readonly storeName: string;
  readonly openStore: () => Store;
  /** Takes each `nth` place only. */
  readonly nth: number;
}

/** All cases of one scenario on one store. `crash` cases are found while they run: how many appends there are depends on the store. */
export async function* casesOf({ scenario, make, storeName, openStore, nth }: MatrixPart): AsyncGenerator<Case> {
  const { events } = await runWhole(make);
  const title = `${scenario}, ${storeName}`;
  const place = (kind: string): Place => ({ make, store: openStore(), sessionId: `${scenario} ${kind}` });
  for (const cut of appendBoundaries(events).filter((_, i) => i % nth === 0)) {
    if (cut === events.length) continue;
    const name = `continued from event ${cut}`;
    yield { name: `${title}: ${name}`, run: () => cutAt(place(name), cut) };
  }
  for (let seq = 1; seq < events.length; seq += nth) {
    const name = `given back at event ${seq}`;
    yield { name: `${title}: ${name}`, run: () => giveBackAt(place(name), seq) };
  }
  for (const [name, stopsAt] of Object.entries(manners)) {
    const end = { isReached: false };
    for (let number = 1; !end.isReached; number += nth) {
      const kind = `${name} ${number}`;
      yield {
        name: `${title}: ${kind}`,
        run: async () => {
          const hasCrashed = await crashedAt(place(kind), stopsAt(number));
          if (!hasCrashed) end.isReached = true;
          return hasCrashed;
        },
      };
    }
  }
}

const manners: Readonly<Record<string, (number: number) => readonly Stop[]>> = {
  'stopped before append': (number) => [{ number, when: 'before' }],
  'stopped after append': (number) => [{ number, when: 'after' }],
  'stopped twice, first after append': (number) => [
    { number, when: 'after' },
    { number: 1 + ((number * 3) % 5), when: number % 2 === 0 ? 'before' : 'after' },
  ],
};

async function cutAt(place: Place, cut: number): Promise<true> {
  const whole = await runWhole(place.make, place.sessionId);
  const { sessionId, store, make } = place;
  const prefix = whole.events.slice(0, cut);
  // A run that waited for nobody at this place has ended there.
  await check(whole, await continueFrom(make, prefix, unclosed(store), sessionId), place, 'cut');
  return true;
}

async function giveBackAt(place: Place, seq: number): Promise<true> {
  const whole = await runWhole(place.make, place.sessionId);
  await check(whole, await stopAndContinue(place.make, seq, unclosed(place.store), place.sessionId), place, 'given back');
  return true;
}

async function crashedAt(place: Place, stops: readonly Stop[]): Promise<boolean> {
  const whole = await runWhole(place.make, place.sessionId);
  const continued = await crashAt(place, stops);
  if (continued === undefined) return false;
  await check(whole, continued, place, 'crash');
  return true;
}

function unclosed(store: Store): Store {
  return { description: store.description, admin: store.admin, for: (scope) => store.for(scope), close: async () => undefined };
}
