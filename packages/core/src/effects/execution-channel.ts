import { channel } from 'node:diagnostics_channel';
import type { Ledger } from '../ledger/ledger.ts';

/**
 * A tool, or what `ctx.effect` was given, is entered: this is where something can happen outside.
 */
export interface ExecutionMessage {
  /** The ledger as the executing process has it. */
  readonly ledger: Ledger;
  /** The tool call, or the effect. */
  readonly callId: string;
  readonly attempt: number;
  readonly key: string;
  /** What is done after a stop; a probe of any kind is `probe`. */
  readonly recovery: 'report' | 'rerun' | 'ask' | 'probe';
}

/**
 * Who counts executions listens here, without a place in the options of a runtime; nothing is said
 * while nobody does.
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
