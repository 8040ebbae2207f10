import { deepFreeze, type JsonValue } from '../../../base/json.ts';
import type { ToolResult, ToolResultStatus } from '../../../ledger/tool-result.ts';
import type { RequestWithAnswer } from '../../../loop/call-state.ts';
import { toolResult, toolResultWith } from '../../../tools/result.ts';
import type { ToolCallPorts } from '../ports.ts';
import { operationExpired, unknownOutcome } from '../result-texts.ts';
import type { SupervisedCall } from '../supervisor.ts';
import { Attempt } from './attempt.ts';
import { type Ending, endingWith } from './ending.ts';
import { Execution } from './execution.ts';
import { recordedEnd } from './recorded-end.ts';

/**
 * Carries out an answer about an attempt: its result from elsewhere, or a decision on its outcome.
 */
export async function resolveAttempt(
  call: SupervisedCall,
  answered: RequestWithAnswer,
  ports: ToolCallPorts,
): Promise<void> {
  const attempt = new Attempt(call, ports);
  const recorded = recordedEnd(attempt);
  if (recorded !== undefined) return void (await recorded);
  const { request, answer } = answered;
  const given = givenResult(answered, ports.ledger.resolve);
  try {
    attempt.args = deepFreeze(ports.ledger.resolve(request.args));
    const execution = new Execution(attempt);
    execution.begin();
    if (answer.decision === 'retry') return execution.recorder.retry();
    if (answer.decision === 'reject' && request.kind === 'result')
      return await execution.record(rejectedOperation(answer.reason));
    const isGiven =
      answer.decision === undefined ||
      answer.decision === 'answer' ||
      answer.decision === 'succeeded' ||
      given !== undefined;
    if (isGiven) return await execution.finishGiven(given ?? null);
    const known = escalatedResult(request);
    if (known !== undefined) return execution.recorder.settle(known, 'none');
    const { operationId } = request.request;
    execution.recorder.settle(
      operationId === undefined
        ? unknownOutcome('nobody could say')
        : operationExpired(operationId),
    );
  } finally {
    attempt.close();
  }
}

/** Returns the result in an answer, or the default of a request that expired. */
function givenResult(
  { request, answer }: RequestWithAnswer,
  resolve: (value: unknown) => unknown,
): unknown {
  const { onExpire } = request.request;
  return answer.decision === 'expire' && typeof onExpire === 'object'
    ? onExpire.default
    : resolve(answer.input);
}

/**
 * Ending of an operation that was rejected, which reports a failure. A rejection counts as
 * without effect.
 */
function rejectedOperation(reason: string | undefined): Ending {
  const result = toolResult.permanent(reason ?? 'The operation failed.', {
    errorType: 'operation_failed',
  });
  return endingWith(result, 'none');
}

/**
 * Known result of an attempt whose failure was escalated to a person. `undefined`: nobody knew how
 * the attempt ended.
 */
function escalatedResult({ request }: RequestWithAnswer['request']): ToolResult | undefined {
  const details = request.details as
    | { known?: JsonValue; status?: ToolResultStatus; errorType?: string; escalated?: boolean }
    | undefined;
  if (details?.escalated !== true || details.status === undefined) return undefined;
  return toolResultWith(
    details.status,
    details.known,
    details.errorType === undefined ? undefined : { errorType: details.errorType },
  );
}
