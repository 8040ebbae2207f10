import { coerceToJson } from '../../base/json.ts';
import { type GivenAnswer, givenAnswer } from '../../effects/model-call/model-answer.ts';
import type { FailedCall, FailurePlan } from '../../effects/model-call/ports.ts';
import type { Event, EventDraft } from '../../ledger/event.ts';
import { mostOverflows } from '../../loop/decide.ts';
import type { Position } from '../../loop/position.ts';
import type { ModelError } from '../../models/errors.ts';
import { nextRung, type Rung } from '../../models/ladder.ts';
import { abortAsRecorded, abortForHandler } from '../frame/recorded-abort.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { delayOf } from './hooks/error-handlers.ts';
import type { HookPipeline } from './hooks/hook-pipeline.ts';

/**
 * Longest wait, in milliseconds, that a provider may request while another key or model is left.
 */
const longestWaitMs = 60_000;

/** Message for a model whose answer was empty. */
const emptyAnswerNote = 'Your last answer was empty. Answer the user, or call a tool.';

/**
 * Attempts of one model call after which a handler gets no further retry. A handler that never
 * gives up would hold the run for ever.
 */
const mostHandledAttempts = 100;

/**
 * Planner of the next step after a failed model call. The error handlers come first, then the
 * model's own retries. The next key, less reasoning and the next model follow, in this order. The
 * hooks for model errors come last. All attempts are counted together.
 */
export class ModelFailures {
  readonly #frame: BodyFrame;
  readonly #position: Position;
  readonly #hooks: HookPipeline | undefined;
  readonly #ladder: () => readonly Rung[];

  constructor(parts: {
    readonly frame: BodyFrame;
    readonly position: Position;
    readonly hooks: HookPipeline | undefined;
    readonly ladder: () => readonly Rung[];
  }) {
    this.#frame = parts.frame;
    this.#position = parts.position;
    this.#hooks = parts.hooks;
    this.#ladder = parts.ladder;
  }

  plan(failed: FailedCall): FailurePlan | Promise<FailurePlan> {
    return this.#hooks === undefined ? this.#ownPlan(failed) : this.#askedPlan(failed, this.#hooks);
  }

  async #askedPlan(failed: FailedCall, hooks: HookPipeline): Promise<FailurePlan> {
    const { error, attempts } = failed;
    const handled = !hooks.errorHandlers.isEmpty
      ? await hooks.errorHandlers.handle({
          phase: 'model',
          error,
          attempt: attempts,
          retryAfterMs: error.retryAfterMs,
          mayRetry: true,
        })
      : undefined;
    const plan =
      handled === undefined
        ? this.#ownPlan(failed)
        : this.#handledPlan(failed, handled.handler, handled.action);
    // A handler that ends the agent or the run has decided: no hook is asked after it.
    const isEnd = handled?.action.action === 'throw' || handled?.action.action === 'abort';
    const given =
      plan.given ??
      (failed.isUsable || isEnd ? undefined : await this.#lastResort(plan, error, hooks));
    return { ...plan, given, writes: hooks.takeWrites() };
  }

  /**
   * Asks the `onModelError` hooks for an answer, only when the agent would otherwise end with the
   * error.
   */
  async #lastResort(
    plan: FailurePlan,
    error: ModelError,
    hooks: HookPipeline,
  ): Promise<GivenAnswer | undefined> {
    const isCompacted =
      error.kind === 'context_overflow' && this.#position.prompt.overflows < mostOverflows;
    if (plan.retryAfterMs !== undefined || isCompacted || !hooks.has('onModelError'))
      return undefined;
    const substitute = await hooks.model.onError(error);
    return substitute === undefined
      ? undefined
      : givenAnswer(substitute.answer, `onModelError of ${substitute.by}`, this.#callId());
  }

  /**
   * Repeats the effects of the recorded end of a call in a replay, right before the ledger gets
   * that end.
   */
  landing(events: readonly Event[]): void {
    const end = events.find((event) => event.type === 'model_end');
    if (end?.type === 'model_end' && end.error !== undefined)
      abortAsRecorded(this.#frame.run, events, end.error.message);
  }

  #handledPlan(
    failed: FailedCall,
    handler: string,
    given: { readonly action: string; readonly delay?: number; readonly result?: unknown },
  ): FailurePlan {
    const { error } = failed;
    const decision = (reasoning: string, more: object = {}): EventDraft => ({
      type: 'decision',
      by: 'runtime',
      invocationId: this.#frame.record.path,
      component: 'error_handler',
      decision: given.action,
      reasoning,
      alternatives: ['throw', 'abort', 'retry', 'fallback', 'pass'].filter(
        (other) => other !== given.action,
      ),
      data: { handler, code: error.code, attempt: failed.attempts, ...more },
    });
    switch (given.action) {
      case 'retry': {
        if (failed.attempts >= mostHandledAttempts) return this.#ownPlan(failed);
        const retryAfterMs = delayOf(given);
        return {
          retryAfterMs,
          decisions: [
            decision(
              `The handler "${handler}" wants the model to be asked again after ` +
                `${retryAfterMs} ms: ${error.message}`,
            ),
          ],
        };
      }
      case 'fallback': {
        const text =
          typeof given.result === 'string'
            ? given.result
            : JSON.stringify(coerceToJson(given.result ?? null).value);
        const answer = givenAnswer(
          { stepEvents: [{ type: 'assistant', text }] },
          `the error handler "${handler}"`,
          this.#callId(),
        );
        return {
          retryAfterMs: undefined,
          given: answer,
          decisions: [
            decision(
              `The handler "${handler}" answers in the place of the model: ${error.message}`,
            ),
          ],
        };
      }
      case 'abort':
        abortForHandler(this.#frame.run, handler, error);
        return {
          retryAfterMs: undefined,
          decisions: [decision(`The handler "${handler}" ends the run: ${error.message}`)],
        };
      case 'throw':
        return {
          retryAfterMs: undefined,
          decisions: [
            decision(`The handler "${handler}" ends the agent: ${error.message}`, {
              failure: error.toJSON(),
            }),
          ],
        };
      default:
        // `skip` has no meaning here: there is no result of a model to skip.
        return this.#ownPlan(failed);
    }
  }

  #ownPlan({ error, retryAfterMs, isEmpty, attempts }: FailedCall): FailurePlan {
    const next = nextRung(this.#ladder(), this.#position.model.index, error);
    // No long wait is made when another key or model is left.
    const waits =
      retryAfterMs !== undefined &&
      (next === undefined || (error.retryAfterMs ?? 0) <= longestWaitMs);
    if (waits) return { retryAfterMs, decisions: isEmpty && attempts === 1 ? [this.#nudge()] : [] };
    if (error.kind === 'context_overflow' && this.#position.prompt.overflows < mostOverflows)
      return { retryAfterMs: undefined, decisions: [] };
    const { index } = this.#position.model;
    if (next === undefined) return { retryAfterMs: undefined, decisions: [] };
    return { retryAfterMs: 0, decisions: [this.#fallback(error, index, next)] };
  }

  /**
   * Returns the step to a later model with a larger window, for a prompt that cannot be made
   * shorter. Returns `undefined` when there is none.
   */
  largerWindow(): EventDraft | undefined {
    const { index } = this.#position.model;
    const next = nextRung(this.#ladder(), index, { kind: 'context_overflow' });
    return next === undefined
      ? undefined
      : this.#fallback({ code: 'model_context_overflow' }, index, next);
  }

  #fallback(error: Pick<ModelError, 'code'>, index: number, next: number): EventDraft {
    const ladder = this.#ladder();
    const from = ladder[index]?.label ?? '';
    const to = ladder[next]?.label ?? '';
    return {
      type: 'decision',
      by: 'runtime',
      invocationId: this.#frame.record.path,
      component: 'models',
      decision: 'fallback',
      reasoning: `${from} cannot answer (${error.code}), so ${to} is asked from now on.`,
      alternatives: [...ladder.slice(next + 1).map(({ label }) => label), 'fail'],
      data: { rung: next, from, to, code: error.code },
    };
  }

  #nudge(): EventDraft {
    return {
      type: 'decision',
      by: 'runtime',
      invocationId: this.#frame.record.path,
      component: 'models',
      decision: 'nudge',
      reasoning: 'The model answered with nothing at all. It is asked again, and told so.',
      alternatives: ['fallback', 'fail'],
      tell: emptyAnswerNote,
    };
  }

  #callId(): string {
    return `given_${this.#frame.run.ledger.lastSeq}`;
  }
}
