import type { CancelScope } from '../../base/cancel-scope.ts';
import { AdjutantError } from '../../base/error.ts';
import type { ModelAnswer } from '../../models/answer.ts';
import { estimateTokens } from '../../models/measures/estimate.ts';
import { modelName } from '../../models/model.ts';
import { forbiddenModel } from '../../models/real-models.ts';
import { askModel } from './ask-model.ts';
import { orFailedHook, recordFailedHook, recordForbidden } from './end-of-agent.ts';
import { interruptible } from './interruptible.ts';
import type { ModelCallPorts, ModelCallRequest } from './ports.ts';
import { answerEnd, recordAnswer, recordGiven } from './record-answer.ts';
import { recordFailure } from './record-failure.ts';
import { recordedAnswer } from './recorded-answer.ts';

const nothingSaid: ModelAnswer = {
  thoughts: [],
  texts: [],
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  finishReason: undefined,
  firstPartAt: undefined,
};

/**
 * Makes a model call and records it. The start is recorded at once, the answer in one append
 * together with the end. Once the run is released, nothing more is recorded: the process that
 * continues the run closes the call.
 */
export async function performModelCall(
  request: ModelCallRequest,
  ports: ModelCallPorts,
): Promise<void> {
  const { path, agent, round, attempt, model, recipe } = request;
  const { ledger, clock } = ports;
  const estimatedInputTokens = estimateTokens(request.characters);
  const maxOutputTokens = request.options.maxOutputTokens;
  ledger.append([
    {
      type: 'model_start',
      by: 'runtime',
      invocationId: path,
      agent,
      round,
      attempt,
      model: modelName(model),
      recipe,
      estimatedInputTokens,
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(request.mostCost === undefined ? {} : { mostCost: request.mostCost }),
    },
  ]);
  const replayed =
    request.given === undefined
      ? ledger.ports.recording?.modelEnded({
          path,
          round,
          attempt,
          landing: (events) => ports.landing?.(events),
        })
      : undefined;
  if (replayed !== undefined) {
    const outcome = await replayed;
    if ('raw' in outcome) {
      const answer = recordedAnswer(outcome.raw, ledger.resolve, request.toolName);
      await recordAnswer(request, ports, answer, { startedAt: clock.monotonic() });
    }
    return;
  }
  if (request.replacesText) ports.emit?.({ type: 'stream_reset', invocationId: path, agent });
  const { close, scope } = interruptible(ports.scope, ports.interruptions);
  try {
    await makeCall(request, ports, scope);
  } finally {
    close();
  }
}

async function makeCall(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  scope: CancelScope,
): Promise<void> {
  const { model } = request;
  const startedAt = ports.clock.monotonic();
  const given =
    request.given ??
    (ports.beforeCall === undefined
      ? undefined
      : await orFailedHook(ports.beforeCall(request.options)));
  if (given instanceof AdjutantError)
    return recordFailedHook(ports, answerEnd(request, ports, nothingSaid, { startedAt }), given);
  if (given !== undefined) return recordGiven(request, ports, given, { startedAt });
  const forbidden = ports.standIn === undefined ? forbiddenModel(model) : undefined;
  if (forbidden !== undefined)
    return recordForbidden(ports, answerEnd(request, ports, nothingSaid, { startedAt }), forbidden);
  const called = await (ports.around === undefined
    ? askModel(request, ports, scope)
    : ports.around(request, () => askModel(request, ports, scope)));
  if ('answer' in called) await recordAnswer(request, ports, called.answer, { startedAt });
  else await recordFailure(request, ports, called, startedAt);
}
