import { AbortReason, type CancelScope } from '../../base/cancel-scope.ts';
import type { TransientEvent, Usage } from '../../ledger/event.ts';
import type { DeltaSink, ModelAnswer } from '../../models/answer.ts';
import { type AnswerProblem, answerProblem } from '../../models/answer-problem.ts';
import { callModel } from '../../models/call.ts';
import { ModelError } from '../../models/errors.ts';
import { modelName } from '../../models/model.ts';
import type { ModelCallPorts, ModelCallRequest } from './ports.ts';

/** A call that gave no answer that can be used as it is. */
export interface FailedAnswer {
  readonly error: unknown;
  readonly reason: AbortReason | undefined;
  /** Usage that the provider charged, when it reported any. */
  readonly usage?: Usage | undefined;
  readonly isEmpty?: boolean;
  /** Answer as far as it had come when the call was aborted. */
  readonly partial?: ModelAnswer | undefined;
  /** Incomplete answer that is still good enough to be given. */
  readonly usable?: ModelAnswer | undefined;
}

/** The end of a call: an answer, or a failure. */
export type Called = { readonly answer: ModelAnswer } | FailedAnswer;

/**
 * Asks the model. An exception and an answer without content are both failures.
 * @param scope of the call
 */
export async function askModel(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  scope: CancelScope,
): Promise<Called> {
  const { model } = request;
  const { clock } = ports;
  const { timeoutMs = ports.defaults.modelTimeoutMs } = model.settings;
  const cancelTimer = clock.setTimer(timeoutMs, () =>
    scope.abort(new AbortReason('timeout', `The model did not answer within ${timeoutMs} ms.`)),
  );
  let partial: ModelAnswer | undefined;
  try {
    const loaded = ports.standIn?.(request) ?? (await model.load());
    const answer = await callModel(
      ports.wrap === undefined ? loaded : ports.wrap(loaded),
      { ...request.options, abortSignal: scope.signal },
      clock,
      ports.emit === undefined ? undefined : deltaSink(request, ports.emit),
      (answer) => {
        partial = answer;
      },
    );
    const problem = answerProblem(answer);
    return problem === undefined ? { answer } : failedAnswer(request, answer, problem);
  } catch (error) {
    return { error, reason: scope.reason, partial };
  } finally {
    cancelTimer();
  }
}

function deltaSink(
  { path, agent }: ModelCallRequest,
  emit: (event: TransientEvent) => void,
): DeltaSink {
  return {
    text: (delta) => emit({ type: 'assistant_delta', invocationId: path, agent, delta }),
    thought: (delta) => emit({ type: 'thought_delta', invocationId: path, agent, delta }),
    toolArgs: (providerCallId, name, delta) =>
      emit({ type: 'tool_args_delta', invocationId: path, agent, providerCallId, name, delta }),
  };
}

/** Turns a problem of an answer into a failure of the call. */
function failedAnswer(
  { model, final }: ModelCallRequest,
  answer: ModelAnswer,
  { kind, retryable, detail, usable }: AnswerProblem,
): Called {
  const isEmpty = kind === 'malformed';
  // A model that may only answer has said all that it will say.
  if (final && (isEmpty || kind === 'output_limit')) return { answer };
  const error = new ModelError({ kind, retryable, model: modelName(model), detail });
  return {
    error,
    reason: undefined,
    usage: answer.usage,
    isEmpty,
    usable: usable ? answer : undefined,
  };
}
