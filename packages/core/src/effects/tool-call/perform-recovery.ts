import type { AttemptState, CallState, RequestWithAnswer } from '../../loop/call-state.ts';
import type { Tool } from '../../tools/tool-definition.ts';
import { validateArgs } from '../../tools/validate.ts';
import { recoverAttempt } from './attempt/recover-attempt.ts';
import { resolveAttempt } from './attempt/resolve-attempt.ts';
import { fallbackArgs } from './fallback-args.ts';
import type { ToolCallPorts } from './ports.ts';
import type { SupervisedCall } from './supervisor.ts';

/** Attempt that is open in the ledger, and its tool. */
interface OpenAttempt {
  readonly state: CallState;
  readonly attempt: AttemptState;
  readonly tool: Tool;
}

/**
 * Records the outcome of an attempt that a stopped process left open. The `recovery` of its tool
 * asks a person or a probe.
 */
export async function performRecovery(open: OpenAttempt, ports: ToolCallPorts): Promise<void> {
  await recoverAttempt(await openCall(open, ports), open.attempt, ports);
}

/** Carries out an answer about an attempt. */
export async function performResolution(
  open: OpenAttempt,
  answered: RequestWithAnswer,
  ports: ToolCallPorts,
): Promise<void> {
  await resolveAttempt(await openCall(open, ports), answered, ports);
}

/** Returns the call of an attempt with its arguments as the model gave them, or as they fit. */
async function openCall(
  { state, attempt: { attempt }, tool }: OpenAttempt,
  ports: ToolCallPorts,
): Promise<SupervisedCall> {
  const given = ports.ledger.resolve(state.call.args);
  if (state.fallback !== undefined) {
    const found = await fallbackArgs(state, tool, ports);
    return { state, tool, attempt, args: 'args' in found ? found.args : given };
  }
  const validated = await validateArgs(tool, given);
  return { state, tool, attempt, args: validated.ok ? validated.args : given };
}
