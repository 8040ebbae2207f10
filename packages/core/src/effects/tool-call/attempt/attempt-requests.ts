import { defined } from '../../../base/defined.ts';
import type { RequestDetails } from '../../../ledger/event.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import type { PendingOperation } from '../../../tools/request-options.ts';
import { requestFingerprint } from '../../request/fingerprint.ts';
import { callSummary, type Question } from '../../request/question.ts';
import type { Attempt } from './attempt.ts';

/** Request about an attempt that was made, without the name of its agent. */
type AttemptRequest = Pick<
  RequestDetails,
  'summary' | 'options' | 'operationId' | 'details' | 'expiresIn' | 'onExpire'
>;

/** Returns the request for the result of an operation elsewhere. */
export function operationRequest({ options }: PendingOperation): AttemptRequest {
  const { operationId, summary, details, expiresInMs, onExpire } = options;
  return {
    summary: summary ?? `the result of ${operationId}`,
    options: ['answer', 'reject'],
    operationId,
    ...defined({ details, expiresIn: expiresInMs, onExpire }),
  };
}

/** Returns the request to a person who decides what follows a known failure. */
export function failureRequest(
  { tool, args }: Attempt,
  { content, status, errorType }: ToolResult,
): AttemptRequest {
  return {
    summary:
      `${callSummary(tool.name, args)} failed. Was it done in another way, ` +
      'is it to be tried again, or is the failure reported?',
    options: ['succeeded', 'retry', 'report'],
    details: {
      known: content,
      status,
      ...defined({ errorType }),
      escalated: true,
    },
  };
}

/** Returns the request to a person who says whether an attempt took effect. */
export function effectRequest({ tool, args }: Attempt, result: ToolResult): AttemptRequest {
  return {
    summary: `Did ${callSummary(tool.name, args)} take effect?`,
    options: ['succeeded', 'retry', 'report'],
    details: { known: result.content, status: result.status },
  };
}

/** Returns the question that this request puts about an attempt. */
export function attemptQuestion(
  { state, tool, call, args, attempt, ports }: Attempt,
  kind: 'result' | 'recovery',
  request: AttemptRequest,
): Question {
  const { expiresIn } = request;
  return {
    kind,
    path: ports.path,
    callId: call.callId,
    name: tool.name,
    args,
    generation: state.generation + 1,
    fingerprint: requestFingerprint(tool, args),
    request: { agent: call.agent, ...request },
    attempt,
    expiresAt: expiresIn === undefined ? undefined : ports.clock.now() + expiresIn,
  };
}
