import { systemClock } from '../../../base/clock.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { type OpenWork, openWork } from './open-work.ts';
import type { TestProcess } from './test-process.ts';

/** Turns of the event loop without any news after which nothing comes of itself any more. */
const quietTurns = 4;
/**
 * Real milliseconds that code of the test (a tool, a step) is given when nothing of the system is
 * visibly at work for it.
 */
const briefMs = 250;

/**
 * How many times its patience a test waits for a run that goes on and on, or for a store that does
 * not answer.
 */
const longestPatience = 10;
/** Events between two steps after which a run is taken to go on and on. */
const mostEvents = 20_000;

/** Thrown when a run does not come to rest although things happen in it. */
export class RestlessError extends Error {}

/** What a process is doing when nothing more comes of itself. */
export interface Rest {
  /** What is open, when something is under way. */
  readonly work: readonly OpenWork[];
  /**
   * Whether everything that is open is known to wait; otherwise it took longer than anybody wanted
   * to wait.
   */
  readonly isExplained: boolean;
}

export interface QuietParts {
  readonly process: TestProcess;
  readonly ledger: () => Ledger | undefined;
  /** Real milliseconds that code of the test may take. */
  readonly patienceMs: number;
  /**
   * What the process of the test had at work before the test began: timers of the test runner, for
   * example.
   */
  readonly resourcesBefore: number;
}

/** Lets the event loop turn once, after everything that is ready now. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.setTimer(ms, resolve));
}

/** A run that is under way looks for what was posted to it now and then, in real time. */
const ownTimers = 1;

/** How much of the system is at work for this process: sockets, files, timers, child processes. */
export function activeResources(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate').length;
}

/** Something that is different whenever anything has happened. */
function progress({
  process: { counted, tools, models, clock, isActive, outcome },
  ledger,
}: QuietParts): string {
  const { lastSeq, durableSeq } = ledger() ?? { lastSeq: 0, durableSeq: 0 };
  const { asked } = counted;
  return [
    lastSeq,
    durableSeq,
    asked,
    tools.entered,
    tools.held.length,
    models.waiting.length,
    clock.untilNext,
    isActive,
    outcome !== undefined,
  ].join();
}

/**
 * Waits until nothing is asked of the store and nothing has happened for a few turns. What was
 * appended is durable then.
 */
export async function settle(parts: QuietParts, watch = new Watch(parts)): Promise<void> {
  let known = '';
  let quiet = 0;
  for (let turns = 0; quiet < quietTurns; turns++) {
    await turn();
    watch.assertRestful();
    const ledger = parts.ledger();
    if (ledger !== undefined && ledger.failure === undefined && ledger.durableSeq < ledger.lastSeq)
      void ledger.durable()?.catch(() => undefined);
    const now = progress(parts);
    quiet = now === known && parts.process.counted.pending === 0 ? quiet + 1 : 0;
    known = now;
    // A store that takes its time is waited for without keeping the machine busy.
    if (parts.process.counted.pending > 0 && turns % 100 === 99) await pause(1);
  }
}

/** Waits until everything that is under way waits for the test, or for nothing that will come. */
export async function rest(parts: QuietParts): Promise<Rest> {
  const watch = new Watch(parts);
  let since = systemClock.monotonic();
  let known: string | undefined;
  for (;;) {
    await settle(parts, watch);
    const work = parts.process.isActive ? openWork(parts.ledger() ?? noLedger) : [];
    if (!parts.process.isActive || isExplained(work, parts)) return { work, isExplained: true };
    const now = progress(parts);
    if (now !== known) since = systemClock.monotonic();
    known = now;
    if (systemClock.monotonic() - since > limitOf(work, parts)) return { work, isExplained: false };
    await pause(1);
  }
}

/** Looks after a run that might never come to rest. */
class Watch {
  readonly #parts: QuietParts;
  readonly #began = systemClock.monotonic();
  readonly #seq: number;

  constructor(parts: QuietParts) {
    this.#parts = parts;
    this.#seq = parts.ledger()?.lastSeq ?? 0;
  }

  /** @throws RestlessError */
  assertRestful(): void {
    const { ledger, patienceMs, process } = this.#parts;
    const events = (ledger()?.lastSeq ?? 0) - this.#seq;
    if (events > mostEvents)
      throw new RestlessError(`but the run goes on and on: it has had ${events} events since`);
    if (systemClock.monotonic() - this.#began < longestPatience * patienceMs) return;
    const why =
      process.counted.pending > 0
        ? 'but the store does not answer'
        : 'but the run does not come to rest';
    throw new RestlessError(`${why} within ${longestPatience * patienceMs} ms`);
  }
}

const noLedger = {
  invocations: { byPath: new Map(), roots: [], outside: [] },
  requests: new Map(),
};

/**
 * Whether each open part waits for the test: for a model, for time to pass, for an answer, for what
 * it gets in the place of a tool.
 */
function isExplained(work: readonly OpenWork[], { process, ledger }: QuietParts): boolean {
  // A run whose parts all wait for answers is about to give its session back.
  if (work.every(({ kind }) => kind === 'request')) return false;
  return work.every((part) => waitsForTest(part, process, ledger()));
}

function waitsForTest(
  part: OpenWork,
  { models, tools, clock }: TestProcess,
  ledger: Ledger | undefined,
): boolean {
  switch (part.kind) {
    case 'model':
      return (
        models.waiting.some((call) => call.invocationId === part.path) ||
        models.answersAt(part.path) !== undefined
      );
    case 'retry':
      return part.at > clock.now();
    case 'request':
      return ledger?.accepted.has(part.requestId) !== true;
    case 'tool':
      return tools.held.some(({ callId }) => callId === part.callId);
    case 'step':
    case 'between':
      return false;
  }
}

/**
 * Code of the test that runs, and for which nothing of the system is at work, waits for something
 * that does not come by waiting.
 */
function limitOf(
  work: readonly OpenWork[],
  { patienceMs, resourcesBefore, process }: QuietParts,
): number {
  const isCode =
    work.length > 0 &&
    work.every(
      (part) =>
        part.kind === 'tool' || part.kind === 'step' || waitsForTest(part, process, undefined),
    );
  return isCode && activeResources() <= resourcesBefore + ownTimers
    ? Math.min(briefMs, patienceMs)
    : patienceMs;
}
