import type { ToolResult } from '../ledger/tool-result.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import type { CircuitBreakerOptions } from './options.ts';

const defaultFailures = 5;
const defaultResetAfterMs = 30_000;

/** The evidence of an attempt about its tool. */
export type BreakerOutcome = 'success' | 'failure' | 'neutral';

/** A change of a breaker, as it is audited. */
export interface BreakerChange {
  readonly change: 'open' | 'half_open' | 'close';
  /** Failures in a row so far. */
  readonly failures: number;
}

/** The answer to the question if a tool may be called now. */
export type CircuitAnswer =
  | { readonly admitted: true; readonly change: BreakerChange | undefined }
  | {
      readonly admitted: false;
      readonly failures: number /** Milliseconds after which it is worth asking again. */;
      readonly retryInMs: number;
    };

/** A change of a breaker, as a ledger has it. */
export interface RecordedChange extends BreakerChange {
  readonly tool: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A tool that is not called for a while. */
export interface OpenCircuit {
  readonly tool: string;
  /** `half_open`: the next call is let through, to see whether the tool works again. */
  readonly state: 'open' | 'half_open';
  /** Failures in a row. */
  readonly failures: number;
  /** Milliseconds until a call is let through. */
  readonly retryInMs: number;
}

interface Circuit {
  failures: number;
  /** Time at which it opened; `undefined` while it is closed. */
  openedAt: number | undefined;
  /** Start of the call that tests if the tool works again. */
  probedAt: number | undefined;
}

const closed: CircuitAnswer = Object.freeze({ admitted: true, change: undefined });

/**
 * The circuit breakers of a runtime's tools. After `failures` in a row a tool is not called for
 * `resetAfterMs` milliseconds. Then one call at a time is let through: its success closes the
 * circuit, its failure opens it anew. Times are epoch milliseconds of the store's clock, which the
 * ledgers hold too.
 */
export class CircuitBreakers {
  readonly options: Required<CircuitBreakerOptions>;
  /** Only of tools that have failed. */
  readonly #circuits = new Map<string, Circuit>();

  constructor({
    failures = defaultFailures,
    resetAfterMs = defaultResetAfterMs,
  }: CircuitBreakerOptions = {}) {
    this.options = { failures, resetAfterMs };
  }

  /** True when no tool has failed recently, so that no check is needed. */
  get isQuiet(): boolean {
    return this.#circuits.size === 0;
  }

  /**
   * Takes over circuits that a ledger shows: changes that other processes, or this one before its
   * restart, have recorded.
   * @param changes newest first, those of the last `resetAfterMs`
   */
  learn(changes: Iterable<RecordedChange>, now: number): void {
    const seen = new Set<string>();
    for (const { tool, change, failures, at } of changes) {
      if (now - at >= this.options.resetAfterMs || seen.has(tool)) continue;
      seen.add(tool);
      const known = this.#circuits.get(tool);
      const isNewer = at > (known?.probedAt ?? known?.openedAt ?? Number.NEGATIVE_INFINITY);
      if (change !== 'close' && isNewer)
        this.#circuits.set(tool, { failures, openedAt: at, probedAt: undefined });
    }
  }

  /** The circuits that are not closed. */
  open(now: number): readonly OpenCircuit[] {
    return [...this.#circuits].flatMap(([tool, { failures, openedAt }]) => {
      if (openedAt === undefined) return [];
      const answer = this.peek(tool, now);
      return [
        answer.admitted
          ? { tool, state: 'half_open' as const, failures, retryInMs: 0 }
          : { tool, state: 'open' as const, failures, retryInMs: answer.retryInMs },
      ];
    });
  }

  /** Returns the answer of `admit`, without taking the place of the test call. */
  peek(tool: string, now: number): CircuitAnswer {
    const circuit = this.#circuits.get(tool);
    if (circuit?.openedAt === undefined) return closed;
    const { resetAfterMs } = this.options;
    // A clock that was set back does not keep the circuit open for longer.
    const waited = Math.abs(now - (circuit.probedAt ?? circuit.openedAt));
    // A test call without an end does not keep the circuit open for ever.
    if (waited < resetAfterMs)
      return { admitted: false, failures: circuit.failures, retryInMs: resetAfterMs - waited };
    return { admitted: true, change: { change: 'half_open', failures: circuit.failures } };
  }

  /** Decides if a call may be made now. After a test call, `record` must follow. */
  admit(tool: string, now: number): CircuitAnswer {
    const admission = this.peek(tool, now);
    const circuit = this.#circuits.get(tool);
    if (admission.admitted && circuit?.openedAt !== undefined) circuit.probedAt = now;
    return admission;
  }

  /**
   * Records the end of a call. A neutral end is no evidence about the tool; the next call then
   * tests it.
   */
  record(tool: string, outcome: BreakerOutcome, now: number): BreakerChange | undefined {
    const circuit = this.#circuits.get(tool);
    if (outcome === 'failure') return this.#fail(tool, circuit, now);
    if (circuit === undefined) return undefined;
    if (outcome === 'neutral') {
      // No test is under way any more: the next call may test at once.
      if (circuit.probedAt !== undefined) circuit.openedAt = now - this.options.resetAfterMs;
      circuit.probedAt = undefined;
      return undefined;
    }
    this.#circuits.delete(tool);
    return circuit.openedAt === undefined
      ? undefined
      : { change: 'close', failures: circuit.failures };
  }

  #fail(
    tool: string,
    circuit: Circuit = { failures: 0, openedAt: undefined, probedAt: undefined },
    now: number,
  ): BreakerChange | undefined {
    this.#circuits.set(tool, circuit);
    circuit.failures++;
    const opens =
      circuit.openedAt === undefined
        ? circuit.failures >= this.options.failures
        : circuit.probedAt !== undefined;
    if (!opens) return undefined;
    circuit.openedAt = now;
    circuit.probedAt = undefined;
    return { change: 'open', failures: circuit.failures };
  }
}

const neutralStatuses: ReadonlySet<string> = new Set(['error_permanent', 'error_blocked']);

/**
 * Returns the evidence of a result about its tool. Only failures of the tool, or of the service
 * behind it, count, not those of the request.
 */
export function breakerOutcome(result: ToolResult): BreakerOutcome {
  if (isSuccess(result)) return 'success';
  const { errorType = '', status } = result;
  if (errorType === 'cancelled' || errorType === 'aborted' || errorType === 'interrupted')
    return 'neutral';
  // A rate limit is no evidence against the tool; all other 4xx are faults of the request.
  if (/^http_4\d\d$/.test(errorType) && errorType !== 'http_408') return 'neutral';
  return neutralStatuses.has(status) ? 'neutral' : 'failure';
}
