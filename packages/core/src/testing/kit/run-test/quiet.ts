import { systemClock } from '../../../base/clock.ts';
import { emptyInvocationTree } from '../../../ledger/folds/invocation-fold.ts';
import { shortestReleaseMs } from '../../../ledger/folds/sleeps.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { type OpenWork, openWork } from './open-work.ts';
import type { TestProcess } from './test-process.ts';

/** Turns of the event loop without any event after which nothing happens by itself any more. */
const quietTurns = 4;
/**
 * Real milliseconds that a tool or a step of the test may take when no resource of the system is
 * active for it.
 */
const briefMs = 250;

/** Number of patiences that a whole wait may take: a run may go on forever, or a store hang. */
const longestPatience = 10;
/** Events between two steps after which a run counts as one that never stops. */
const mostEvents = 20_000;

/** Error of a run that does not come to rest although things happen in it. */
export class RestlessError extends Error {}

/** State of a process in which nothing happens by itself any more. */
export interface Rest {
  /** The open work, when a run is under way. */
  readonly work: readonly OpenWork[];
  /** True when all open work is known to wait; otherwise the patience of the test ended. */
  readonly isExplained: boolean;
}

export interface QuietParts {
  readonly process: TestProcess;
  readonly ledger: () => Ledger | undefined;
  /** Real milliseconds that code of the test may take. */
  readonly patienceMs: number;
  /** Number of active resources before the test began, such as timers of the test runner. */
  readonly resourcesBefore: number;
}

/** Lets the event loop turn once, after everything that is ready now. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.setTimer(ms, resolve));
}

/** Number of timers of the runtime: a run that is under way polls its inbox in real time. */
const ownTimers = 1;

/** Number of active resources of this process: sockets, files, timers, child processes. */
export function activeResources(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate').length;
}

/** Returns a text that changes whenever anything has happened. */
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
 * Waits until no question to the store is open and nothing has happened for a few turns. Appended
 * events are durable then.
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
    // The pause lets a slow store answer without keeping the machine busy.
    if (parts.process.counted.pending > 0 && turns % 100 === 99) await pause(1);
  }
}

/**
 * Waits until all work that is under way waits for the test, or for something that will not come.
 */
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

/** Checks for a run that might never come to rest. */
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
  invocations: emptyInvocationTree(),
  requests: new Map(),
};

/**
 * True when each open part waits for the test: for a model, for time to pass, for an answer, or for
 * the result of a tool.
 */
function isExplained(work: readonly OpenWork[], { process, ledger }: QuietParts): boolean {
  // A run whose parts all wait for answers or sleep is about to release its session.
  if (work.every((part) => releasesFor(part, process.clock.now()))) return false;
  return work.every((part) => waitsForTest(part, process, ledger()));
}

function releasesFor(part: OpenWork, now: number): boolean {
  return (
    part.kind === 'request' || (part.kind === 'sleep' && part.until - now >= shortestReleaseMs)
  );
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
    case 'sleep':
      return part.until > clock.now();
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
 * Returns the real milliseconds to wait for open work. The limit is short for code of the test for
 * which no resource is active: it waits for something that does not come by waiting.
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
