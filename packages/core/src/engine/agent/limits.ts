import { defined } from '../../base/defined.ts';
import { ask, type Question } from '../../effects/request/question.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { DataOf } from '../../ledger/decisions/decision-map.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { Intent } from '../../loop/intent.ts';
import { priceOf } from '../../models/measures/price.ts';
import { type Model, modelName, type Price, toModel } from '../../models/model.ts';
import type { LimitState } from '../../supervision/limits.ts';
import type { AgentParts } from './agent-parts.ts';

type LimitIntent = Extract<Intent, { type: 'warn' | 'declare_limit' }>;

/** Records at once that a limit in dollars cannot hold for a model without a known price. */
export function noteUnknownPrices({ agent, frame, budget }: AgentParts): void {
  const { run, record } = frame;
  const limit = budget.accounts.find(({ limits }) => limits.cost !== undefined)?.limits.cost;
  if (limit === undefined) return;
  const models = [agent.model, ...agent.fallbackModels].map(toModel);
  const drafts = unknownPriceDrafts(record.path, limit, models, run.app.prices);
  if (drafts.length > 0) run.ledger.append(drafts);
}

/** Records that a limit is near or reached. */
export function recordLimit({ frame }: AgentParts, intent: LimitIntent): void {
  frame.run.ledger.append([limitDraft(frame.record.path, intent)]);
}

/** Makes the request to exceed a limit. */
export function askAboutLimit({ agent, frame, position }: AgentParts, limit: LimitState): void {
  const { run, record } = frame;
  ask(run.ledger, limitQuestion(record.path, agent.name, limit, position.limits.requests + 1));
}

/**
 * Returns a decision for each model to which a limit in dollars does not apply, because its price
 * is unknown.
 */
function unknownPriceDrafts(
  path: string,
  limit: number,
  models: readonly Model[],
  prices: Readonly<Record<string, Price>> | undefined,
): readonly EventDraft[] {
  const names = new Set(
    models.filter((model) => priceOf(model, prices) === undefined).map(modelName),
  );
  return [...names].map((name) =>
    decision('limits', 'cost_unknown', {
      invocationId: path,
      reasoning:
        `The price of ${name} is not known, so the limit of $${limit} does not hold for its ` +
        'calls.',
      alternatives: [
        "give the price: runtime({ prices }) or the model's `price`",
        'limit tokens instead',
      ],
      data: { model: name, limit },
    }),
  );
}

const whatFollows = { answer: 'answers with what it has', fail: 'fails' } as const;

/** Returns the decision that a limit is near or reached. */
function limitDraft(path: string, intent: LimitIntent): EventDraft {
  const { limit } = intent;
  const used =
    `${limit.used} of ${limit.limit} ` +
    `(${limit.reason}${limit.of === 'run' ? ' of the run' : ''})`;
  const needed =
    limit.needed === undefined
      ? ''
      : `, and the next call with an answer after it may need ${limit.needed}`;
  const isLoop = limit.reason === 'loop';
  const reached = isLoop
    ? 'It went on with calls that are not made any more, although it was told so.'
    : `Used up: ${used}${needed}.`;
  return decision('limits', intent.type === 'warn' ? 'warn' : 'exhausted', {
    invocationId: path,
    reasoning:
      intent.type === 'warn'
        ? `At least 90 % are used: ${used}.`
        : `${reached} The agent ${whatFollows[intent.action]}.`,
    // No person is asked about a loop.
    alternatives:
      intent.type === 'warn'
        ? []
        : ['answer', 'fail', 'ask'].filter(
            (other) => other !== intent.action && !(isLoop && other === 'ask'),
          ),
    data: { ...limitData(limit), ...(intent.type === 'warn' ? { of: intent.of } : {}) },
  });
}

function limitData({
  reason,
  used,
  limit,
  of,
  path,
  needed,
}: LimitState): DataOf<'limits', 'warn'> {
  const owner = of === undefined || path === undefined ? {} : { of, path };
  return { reason, used, limit, ...owner, ...defined({ needed }) };
}

/**
 * Returns the question whether an agent may exceed a limit. The limit is its own, or one of an
 * agent above it or of the run.
 */
function limitQuestion(
  path: string,
  agent: string,
  limit: LimitState,
  generation: number,
): Question {
  return {
    kind: 'limit',
    path,
    callId: `${path}/limit`,
    name: limit.reason,
    args: null,
    generation,
    fingerprint: `${limit.reason} ${limit.limit}`,
    request: {
      agent,
      summary: `${agent} has used ${limit.used} of ${limit.limit} (${limit.reason}). May it go on?`,
      options: ['continue', 'reject'],
      details: limitData(limit),
    },
  };
}
