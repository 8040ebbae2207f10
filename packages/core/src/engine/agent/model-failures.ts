import { type GivenAnswer, givenAnswer } from '../../effects/model-call/model-answer.ts';
import type { FailedCall, FailurePlan } from '../../effects/model-call/ports.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../../ledger/event.ts';
import type { Position } from '../../loop/position.ts';
import type { ModelError } from '../../models/errors.ts';
import { type FallbackLevel, nextFallbackLevel } from '../../models/fallback-levels.ts';
import type { ResolvedCompaction } from '../../runnables/compaction-options.ts';
import { abortAsRecorded } from '../frame/recorded-abort.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { givenCallId } from './answers/given-call-id.ts';
import { handledPlan } from './handled-failure.ts';
import type { HookPipeline } from './hooks/hook-pipeline.ts';

/**
 * Longest wait, in milliseconds, that a provider may request while another key or model is left.
 */
const longestWaitMs = 60_000;

/** Message for a model whose answer was empty. */
const emptyAnswerNote = 'Your last answer was empty. Answer the user, or call a tool.';

/**
 * Planner of the next step after a failed model call. The error handlers come first, then the
 * model's own retries. The next key, less reasoning and the next model follow, in this order. The
 * hooks for model errors come last. All attempts are counted together.
 */
export class ModelFailures {
  readonly #frame: BodyFrame;
  readonly #position: Position;
  readonly #hooks: HookPipeline | undefined;
  readonly #recoveries: number;
  readonly #fallbackLevels: () => readonly FallbackLevel[];

  constructor(parts: {
    readonly frame: BodyFrame;
    readonly position: Position;
    readonly hooks: HookPipeline | undefined;
    readonly compaction: ResolvedCompaction;
    readonly levels: () => readonly FallbackLevel[];
  }) {
    this.#frame = parts.frame;
    this.#position = parts.position;
    this.#hooks = parts.hooks;
    this.#recoveries = parts.compaction.recoveries;
    this.#fallbackLevels = parts.levels;
  }

  /** True when a prompt that was refused as too long may be made shorter once more. */
  get #mayShorten(): boolean {
    return this.#position.prompt.overflows < this.#recoveries;
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
        : (handledPlan(this.#frame, failed, handled) ?? this.#ownPlan(failed));
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
    const isCompacted = error.kind === 'context_overflow' && this.#mayShorten;
    if (plan.retryAfterMs !== undefined || isCompacted || !hooks.has('onModelError'))
      return undefined;
    const substitute = await hooks.model.onError(error);
    return substitute === undefined
      ? undefined
      : givenAnswer(
          substitute.answer,
          `onModelError of ${substitute.by}`,
          givenCallId(this.#frame),
        );
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

  #ownPlan({ error, retryAfterMs, isEmpty, attempts }: FailedCall): FailurePlan {
    const next = nextFallbackLevel(this.#fallbackLevels(), this.#position.model.index, error);
    // No long wait is made when another key or model is left.
    const waits =
      retryAfterMs !== undefined &&
      (next === undefined || (error.retryAfterMs ?? 0) <= longestWaitMs);
    if (waits) return { retryAfterMs, decisions: isEmpty && attempts === 1 ? [this.#nudge()] : [] };
    if (error.kind === 'context_overflow' && this.#mayShorten)
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
    const next = nextFallbackLevel(this.#fallbackLevels(), index, { kind: 'context_overflow' });
    return next === undefined
      ? undefined
      : this.#fallback({ code: 'model_context_overflow' }, index, next);
  }

  #fallback(error: Pick<ModelError, 'code'>, index: number, next: number): EventDraft {
    const levels = this.#fallbackLevels();
    const from = levels[index]?.label ?? '';
    const to = levels[next]?.label ?? '';
    return decision('models', 'fallback', {
      invocationId: this.#frame.record.path,
      reasoning: `${from} cannot answer (${error.code}), so ${to} is asked from now on.`,
      alternatives: [...levels.slice(next + 1).map(({ label }) => label), 'fail'],
      data: { rung: next, from, to, code: error.code },
    });
  }

  #nudge(): EventDraft {
    return decision('models', 'nudge', {
      invocationId: this.#frame.record.path,
      reasoning: 'The model answered with nothing at all. It is asked again, and told so.',
      alternatives: ['fallback', 'fail'],
      tell: emptyAnswerNote,
    });
  }
}
