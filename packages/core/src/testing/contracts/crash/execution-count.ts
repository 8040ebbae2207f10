import type { Clock } from '../../../base/clock.ts';
import { type ExecutionMessage, executionChannel } from '../../../effects/execution-channel.ts';
import type { Execution } from './crash-scenario.ts';

/** Counts the executions of one process, which is identified by its clock, until it stops. */
export class ExecutionCount {
  readonly executions: Execution[] = [];
  readonly #listen: (message: unknown) => void;

  constructor(clock: Clock) {
    this.#listen = (message) => {
      const { ledger, callId, attempt, key, recovery } = message as ExecutionMessage;
      if (ledger.ports.clock === clock) this.executions.push({ callId, attempt, key, recovery });
    };
    executionChannel.subscribe(this.#listen);
  }

  end(): void {
    executionChannel.unsubscribe(this.#listen);
  }
}
