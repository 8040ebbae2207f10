import { coerceToJson } from '../../base/json.ts';
import { type GivenAnswer, givenAnswer } from '../../effects/model-call/model-answer.ts';
import type { FailedCall, FailurePlan } from '../../effects/model-call/ports.ts';
import { type DecisionDraft, decision } from '../../ledger/decisions/decision.ts';
import type { Failing } from '../../ledger/decisions/decision-data.ts';
import { abortForHandler } from '../frame/recorded-abort.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { givenCallId } from './answers/given-call-id.ts';
import { delayOf, type HandlerAction } from './hooks/error-handlers.ts';

/**
 * Attempts of one model call after which a handler gets no further retry. A handler that never
 * gives up would hold the run for ever.
 */
const mostHandledAttempts = 100;

/**
 * Returns the plan that an error handler wants for a failed model call. Returns `undefined` when
 * its action means nothing for a model, or gets no further retry.
 */
export function handledPlan(
  frame: BodyFrame,
  failed: FailedCall,
  handled: HandlerAction,
): FailurePlan | undefined {
  const { handler, action } = handled;
  const { error } = failed;
  const decided = (reasoning: string, more: Partial<Failing> = {}): readonly DecisionDraft[] => [
    handlerDraft(frame.record.path, failed, handled, reasoning, more),
  ];
  switch (action.action) {
    case 'retry': {
      if (failed.attempts >= mostHandledAttempts) return undefined;
      const retryAfterMs = delayOf(action);
      const reasoning =
        `The handler "${handler}" wants the model to be asked again after ` +
        `${retryAfterMs} ms: ${error.message}`;
      return { retryAfterMs, decisions: decided(reasoning) };
    }
    case 'fallback':
      return {
        retryAfterMs: undefined,
        given: fallbackAnswer(frame, handler, action.result),
        decisions: decided(
          `The handler "${handler}" answers in the place of the model: ${error.message}`,
        ),
      };
    case 'abort':
      abortForHandler(frame.run, handler, error);
      return {
        retryAfterMs: undefined,
        decisions: decided(`The handler "${handler}" ends the run: ${error.message}`),
      };
    case 'throw':
      return {
        retryAfterMs: undefined,
        decisions: decided(`The handler "${handler}" ends the agent: ${error.message}`, {
          failure: error.toJSON(),
        }),
      };
    default:
      // `skip` has no meaning here: there is no result of a model to skip.
      return undefined;
  }
}

function fallbackAnswer(frame: BodyFrame, handler: string, result: unknown): GivenAnswer {
  const text =
    typeof result === 'string' ? result : JSON.stringify(coerceToJson(result ?? null).value);
  return givenAnswer(
    { stepEvents: [{ type: 'assistant', text }] },
    `the error handler "${handler}"`,
    givenCallId(frame),
  );
}

function handlerDraft(
  path: string,
  { error, attempts }: FailedCall,
  { handler, action }: HandlerAction,
  reasoning: string,
  more: Partial<Failing>,
): DecisionDraft {
  return decision('error_handler', action.action, {
    invocationId: path,
    reasoning,
    alternatives: ['throw', 'abort', 'retry', 'fallback', 'pass'].filter(
      (other) => other !== action.action,
    ),
    data: { handler, code: error.code, attempt: attempts, ...more },
  });
}
