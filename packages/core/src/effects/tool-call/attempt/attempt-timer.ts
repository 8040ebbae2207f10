import { AbortReason, type CancelScope } from '../../../base/cancel-scope.ts';
import type { EventOf } from '../../../ledger/event.ts';
import { runnableOf } from '../../../tools/called-runnable.ts';
import type { Tool } from '../../../tools/tool.ts';
import type { ToolCallPorts } from '../ports.ts';

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
    const { toolTimeoutMs, agentCallTimeoutMs } = attempt.ports.defaults;
    const isAgentTool = runnableOf(attempt.tool) !== undefined;
    this.#timeoutMs = attempt.tool.timeoutMs ?? (isAgentTool ? agentCallTimeoutMs : toolTimeoutMs);
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
    const { tool, scope, ports } = this.#attempt;
    const { agentCallTimeoutMs } = ports.defaults;
    if (tool.timeoutMs !== undefined || this.#timeoutMs >= agentCallTimeoutMs || scope.aborted)
      return;
    // The ledger keeps the original deadline of the attempt. A process that takes over a call with
    // children continues it at once, whatever that deadline is.
    this.#cancelTimer();
    this.deadline += agentCallTimeoutMs - this.#timeoutMs;
    this.#timeoutMs = agentCallTimeoutMs;
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
