import { deepFreeze } from '../../../base/json.ts';
import type { AttemptState } from '../../../loop/call-state.ts';
import type { ToolCallPorts } from '../ports.ts';
import { unknownOutcome } from '../result-texts.ts';
import type { SupervisedCall } from '../supervisor.ts';
import { Attempt } from './attempt.ts';
import { endingWith } from './ending.ts';
import { Execution } from './execution.ts';
import { recordedEnd } from './recorded-end.ts';

/** Records the outcome of an attempt whose process stopped, by the `recovery` of the tool. */
export async function recoverAttempt(
  call: SupervisedCall,
  { deadline = 0, epoch }: AttemptState,
  ports: ToolCallPorts,
): Promise<void> {
  const attempt = new Attempt(call, ports);
  const hasProbe = typeof call.tool.recovery === 'function';
  const recorded = hasProbe ? recordedEnd(attempt) : undefined;
  if (recorded !== undefined) return void (await recorded);
  try {
    // An attempt of another owner may still be running: its outcome is sought after its deadline.
    if (hasProbe && epoch !== ports.ledger.lease.epoch) await ports.sleepUntil(deadline);
    if (attempt.isReleased() || !(await isPreparedAgain(attempt))) return;
    const result = unknownOutcome('the process stopped while the tool was running');
    await new Execution(attempt).record(endingWith(result, 'unknown'));
  } finally {
    attempt.close();
  }
}

/**
 * Restores the prepared arguments of an attempt. If they cannot be prepared again, the requested
 * arguments are used. Returns false when the run was released.
 */
async function isPreparedAgain(attempt: Attempt): Promise<boolean> {
  const { tool, state, ports } = attempt;
  const { prepare } = tool;
  const last = state.answered.findLast(
    ({ request }) => request.attempt === undefined && request.name === tool.name,
  );
  if (last !== undefined && last.answer.decision !== 'edit')
    attempt.args = deepFreeze(ports.ledger.resolve(last.request.args));
  else if (prepare !== undefined) {
    if (last !== undefined) attempt.args = ports.ledger.resolve(last.answer.input);
    const preparing = (async () => prepare(attempt.context()))();
    const prepared = await attempt.untilAborted(preparing).catch(() => undefined);
    if (prepared !== undefined) attempt.args = deepFreeze(prepared.value);
  }
  return !attempt.isReleased();
}
