import { channel } from 'node:diagnostics_channel';
import type { Ledger } from '../ledger/ledger.ts';

/**
 * Message that a tool, or the function of `ctx.effect`, is about to run. From here on something can
 * happen outside.
 */
export interface ExecutionMessage {
  /** The ledger as the executing process has it. */
  readonly ledger: Ledger;
  /** Id of the tool call or of the effect. */
  readonly callId: string;
  readonly attempt: number;
  readonly key: string;
  /** Recovery after a stop. `probe` stands for a probe of any kind. */
  readonly recovery: 'report' | 'rerun' | 'ask' | 'probe';
}

/**
 * Channel for listeners that count executions, without an option of the runtime. Nothing is
 * published while nobody listens.
 */
export const executionChannel = channel('adjutant.execution');

export function tellExecution({
  recovery,
  ...entered
}: Omit<ExecutionMessage, 'recovery'> & { readonly recovery: unknown }): void {
  const message: ExecutionMessage = {
    ...entered,
    recovery:
      recovery === 'rerun' || recovery === 'ask' || recovery === 'report' ? recovery : 'probe',
  };
  executionChannel.publish(message);
}
