import type { ToolResult } from '../ledger/tool-result.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import type { CircuitBreakerOptions } from './options.ts';

const defaultFailures = 5;
const defaultResetAfterMs = 30_000;

/** What an attempt says of whether its tool works. */
export type BreakerOutcome = 'success' | 'failure' | 'neutral';

/** A change of a breaker, as it is audited. */
export interface BreakerChange {
  readonly change: 'open' | 'half_open' | 'close';
  /** Failures in a row so far. */
  readonly failures: number;
}

/** Whether a tool may be called now. */
export type Admission =
  | { readonly admitted: true; readonly change: BreakerChange | undefined }
  | {
      readonly admitted: false;
      readonly failures: number /** Milliseconds after which it is worth asking again. */;
      readonly retryInMs: number;
    };

interface Circuit {
  failures: number;
  /** When it opened; `undefined`: it is closed. */
  openedAt: number | undefined;
  /** When the call began that is to show whether the tool works again. */
  probedAt: number | undefined;
}

const closed: Admission = Object.freeze({ admitted: true, change: undefined });

/**
 * Which tools of a runtime fail again and again, and are left alone for a while. After `failures`
 * in a row a tool is not called for `resetAfter` milliseconds; then one call at a time is let
 * through: its success closes the circuit, its failure opens it anew. Times are milliseconds of any
 * clock that does not run backwards.
 */
export class CircuitBreakers {
  readonly options: Required<CircuitBreakerOptions>;
  /** Only of tools that have failed. */
  readonly #circuits = new Map<string, Circuit>();

  constructor({
    failures = defaultFailures,
    resetAfter = defaultResetAfterMs,
  }: CircuitBreakerOptions = {}) {
    this.options = { failures, resetAfter };
  }

  /** Whether no tool has failed of late, so that nobody need be asked. */
  get isQuiet(): boolean {
    return this.#circuits.size === 0;
  }

  /** What `admit` would say, without taking the place of the call that is let through. */
  peek(tool: string, now: number): Admission {
    const circuit = this.#circuits.get(tool);
    if (circuit?.openedAt === undefined) return closed;
    const { resetAfter } = this.options;
    const waited = now - (circuit.probedAt ?? circuit.openedAt);
    // A probe of which nothing is heard does not keep the circuit open for ever.
    if (waited < resetAfter)
      return { admitted: false, failures: circuit.failures, retryInMs: resetAfter - waited };
    return { admitted: true, change: { change: 'half_open', failures: circuit.failures } };
  }

  /**
   * Whether a call may be made now. One that is let through to see whether the tool works again is
   * to be followed by `record`.
   */
  admit(tool: string, now: number): Admission {
    const admission = this.peek(tool, now);
    const circuit = this.#circuits.get(tool);
    if (admission.admitted && circuit?.openedAt !== undefined) circuit.probedAt = now;
    return admission;
  }

  /**
   * Takes in how a call ended. A neutral end says nothing of the tool, and lets the next call see
   * whether it works again.
   */
  record(tool: string, outcome: BreakerOutcome, now: number): BreakerChange | undefined {
    const circuit = this.#circuits.get(tool);
    if (outcome === 'failure') return this.#fail(tool, circuit, now);
    if (circuit === undefined) return undefined;
    if (outcome === 'neutral') {
      // Nobody is looking any more: the next call may at once.
      if (circuit.probedAt !== undefined) circuit.openedAt = now - this.options.resetAfter;
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
 * What a result says of whether the tool works: only failures of the tool or of what is behind it
 * count, not those of the request.
 */
export function breakerOutcome(result: ToolResult): BreakerOutcome {
  if (isSuccess(result)) return 'success';
  const { errorType = '', status } = result;
  if (errorType === 'cancelled' || errorType === 'aborted' || errorType === 'interrupted')
    return 'neutral';
  // That too much was asked for says nothing of whether it works; all other 4xx are the fault of
  // the request.
  if (/^http_4\d\d$/.test(errorType) && errorType !== 'http_408') return 'neutral';
  return neutralStatuses.has(status) ? 'neutral' : 'failure';
}
