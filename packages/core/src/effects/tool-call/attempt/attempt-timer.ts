import { AbortReason, type CancelScope } from '../../../base/cancel-scope.ts';
import type { EventOf } from '../../../ledger/event.ts';
import type { Tool } from '../../../tools/tool.ts';
import type { ToolCallPorts } from '../ports.ts';

/** Milliseconds for one attempt of a tool, and for one of a tool that has called an agent. */
const defaultToolTimeoutMs = 30_000;
const defaultAgentToolTimeoutMs = 120_000;

/** Attempt that the timer aborts. */
interface TimedAttempt {
  readonly tool: Tool;
  readonly call: EventOf<'tool_call'>;
  readonly scope: CancelScope;
  readonly ports: ToolCallPorts;
}

/** Time limit of one attempt. The attempt is aborted when its time is over. */
export class AttemptTimer {
  /** Epoch milliseconds at which the time is over. */
  deadline = 0;
  readonly #attempt: TimedAttempt;
  #timeoutMs: number;
  /** Monotonic time in milliseconds at which the time began. */
  #begunAt = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(attempt: TimedAttempt) {
    this.#attempt = attempt;
    this.#timeoutMs = attempt.tool.timeoutMs ?? defaultToolTimeoutMs;
  }

  /** Milliseconds for the whole attempt. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** Milliseconds that are left. */
  get leftMs(): number {
    return this.#timeoutMs - (this.#attempt.ports.clock.monotonic() - this.#begunAt);
  }

  /** Begins the time, which also runs while the attempt is being recorded. */
  begin(): void {
    const { clock } = this.#attempt.ports;
    this.deadline = clock.now() + this.#timeoutMs;
    this.#begunAt = clock.monotonic();
  }

  /** Aborts the attempt from now on when its time is over. */
  start(): void {
    this.#setTimer(this.leftMs);
  }

  stop(): void {
    this.#cancelTimer();
  }

  /** Gives an attempt that calls an agent more time, unless its tool has a timeout of its own. */
  extendForChild(): void {
    const { tool, scope } = this.#attempt;
    if (
      tool.timeoutMs !== undefined ||
      this.#timeoutMs >= defaultAgentToolTimeoutMs ||
      scope.aborted
    )
      return;
    // The ledger keeps the original deadline of the attempt. A process that takes over a call with
    // children continues it at once, whatever that deadline is.
    this.#cancelTimer();
    this.deadline += defaultAgentToolTimeoutMs - this.#timeoutMs;
    this.#timeoutMs = defaultAgentToolTimeoutMs;
    this.start();
  }

  #setTimer(ms: number): void {
    const { tool, call, scope, ports } = this.#attempt;
    this.#cancelTimer = ports.clock.setTimer(ms, () => {
      // The time of a tool stands still while its children wait for an answer.
      if (ports.isWaiting(call.callId)) this.#setTimer(this.#timeoutMs);
      else
        scope.abort(
          new AbortReason(
            'timeout',
            `The tool ${tool.name} did not finish within ${this.#timeoutMs} ms.`,
          ),
        );
    });
  }
}
