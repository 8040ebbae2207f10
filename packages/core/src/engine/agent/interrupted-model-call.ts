import { defined } from '../../base/defined.ts';
import { costOf } from '../../models/measures/price.ts';
import { toModel } from '../../models/model.ts';
import type { AgentParts } from './agent-parts.ts';

/** Records the end of a model call that was left open. Its usage is estimated. */
export function closeModelCall({ agent, frame, position }: AgentParts): void {
  const { run, record } = frame;
  const { call } = position.model;
  if (call === undefined || call.end !== undefined) return;
  const { start } = call;
  const model = toModel(agent.model);
  const usage = { inputTokens: start.estimatedInputTokens, outputTokens: 0 };
  // The code may have changed since then: the price of another model would be wrong.
  const cost =
    start.model === `${model.provider}:${model.modelId}`
      ? costOf(model, usage, run.app.prices)
      : undefined;
  run.ledger.append([
    {
      type: 'model_end',
      by: 'runtime',
      invocationId: record.path,
      round: start.round,
      attempt: start.attempt,
      status: 'interrupted',
      usage,
      estimated: true,
      ...defined({ cost }),
      durationMs: 0,
    },
  ]);
}
