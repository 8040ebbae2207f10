import type { Ledger } from '../../../ledger/ledger.ts';
import { executionChannel, tellExecution } from '../../execution-channel.ts';
import type { ToolCallPorts } from '../ports.ts';
import { CallPreparation } from '../preparation.ts';
import { knownEffect } from '../refusal-draft.ts';
import { cancelledBefore, timedOutBefore } from '../result-texts.ts';
import type { SupervisedCall } from '../supervisor.ts';
import { Attempt } from './attempt.ts';
import { attemptDraft, attemptResult } from './attempt-draft.ts';
import { endingWith } from './ending.ts';
import { Execution } from './execution.ts';
import { recordedEnd, recordRawResult } from './recorded-end.ts';

/**
 * Makes one attempt of a tool call, from its validated arguments to its recorded end. An attempt
 * that waited for its children in another process goes on as it was recorded.
 */
export async function runAttempt(call: SupervisedCall, ports: ToolCallPorts): Promise<void> {
  const { ledger, around } = ports;
  const { recovery } = call.tool;
  const attempt = new Attempt(call, ports);
  try {
    const preparation = new CallPreparation(attempt);
    if (!(await preparation.isReady())) return;
    attempt.key = preparation.key ?? attempt.key;
    const goesOn = call.state.attempts.some((made) => made.attempt === call.attempt);
    appendAttempt(attempt, preparation, goesOn);
    const durable = recovery === 'rerun' ? undefined : ledger.durable();
    if (durable !== undefined) await durable;
    // Last check before the tool runs. A process that was suspended may have lost the session to
    // another process, which runs the tool itself.
    if (!ledger.lease.isLive() && !(await renewLease(ledger))) return;
    if (attempt.scope.aborted) return recordNotExecuted(attempt, goesOn);
    const execution = new Execution(attempt);
    const options = { mayRun: recovery === 'rerun', takesRaw: true };
    const recorded = recordedEnd(attempt, options);
    if (recorded !== undefined) return await recordRawResult(attempt, execution, await recorded);
    execution.begin();
    if (attempt.timer.leftMs <= 0) {
      const result = timedOutBefore(attempt.tool.name, attempt.timer.timeoutMs);
      return await execution.record(endingWith(result, 'none'));
    }
    attempt.timer.start();
    attempt.stage = 'execute';
    if (executionChannel.hasSubscribers) tellAttempt(attempt);
    await (around === undefined
      ? execution.execute(attempt.context())
      : around(attempt, () => execution.execute(attempt.context())));
  } finally {
    attempt.close();
  }
}

function appendAttempt(attempt: Attempt, preparation: CallPreparation, goesOn: boolean): void {
  const { ledger } = attempt.ports;
  attempt.timer.begin();
  const { drafts, extras } = preparation.takeWrites();
  ledger.ports.recording?.prepared(attempt.call.callId, attempt.args);
  const begun = goesOn ? [] : [attemptDraft(attempt, preparation.fingerprint)];
  if (drafts.length + begun.length > 0 || extras !== undefined)
    ledger.append([...drafts, ...begun], extras);
}

/**
 * True when this process still owns the session. Otherwise another process is responsible for the
 * attempt.
 */
async function renewLease(ledger: Ledger): Promise<boolean> {
  try {
    await ledger.lease.renew();
    return ledger.failure === undefined;
  } catch (error) {
    ledger.fail(error);
    return false;
  }
}

/** Records that the run was cancelled while the attempt was being recorded. */
function recordNotExecuted(attempt: Attempt, goesOn: boolean): void {
  if (attempt.isReleased()) return;
  const effect = knownEffect(attempt.state, goesOn ? undefined : attempt.attempt);
  const more = { settled: true, durationMs: 0, effect };
  attempt.ports.ledger.append([attemptResult(attempt, cancelledBefore(), more)]);
}

function tellAttempt({ call: { callId }, tool: { recovery }, attempt, key, ports }: Attempt): void {
  tellExecution({ ledger: ports.ledger, callId, attempt, key, recovery });
}
