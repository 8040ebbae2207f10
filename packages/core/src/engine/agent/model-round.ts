import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { isAdjutantError } from '../../base/error.ts';
import { interruptible } from '../../effects/model-call/interruptible.ts';
import { type GivenAnswer, givenAnswer } from '../../effects/model-call/model-answer.ts';
import { performModelCall } from '../../effects/model-call/perform-model-call.ts';
import type { ModelCallPorts, ModelCallRequest } from '../../effects/model-call/ports.ts';
import { standInCall } from '../../effects/stand-ins.ts';
import type { Intent } from '../../loop/intent.ts';
import { type FallbackLevel, fallbackLevels } from '../../models/fallback-levels.ts';
import { type Model, modelName, toModel } from '../../models/model.ts';
import type { RenderContext } from '../../runnables/render-context.ts';
import type { Runnable } from '../../session/runnable.ts';
import { guardrailsAt } from '../../supervision/guardrail.ts';
import type { CallAllowance } from '../frame/budget/agent-budget.ts';
import { sleepUntil } from '../frame/sleep-until.ts';
import type { AgentParts } from './agent-parts.ts';
import { answerRenderers, responseFormatOf } from './answers/answer-format.ts';
import { AnswerJudge } from './answers/answer-judge.ts';
import { AnswerPipeline, transferDrafts } from './answers/answer-pipeline.ts';
import { givenCallId } from './answers/given-call-id.ts';
import { AgentCompaction } from './compaction/compaction.ts';
import type { HookPipeline } from './hooks/hook-pipeline.ts';
import type { BeforeModel } from './hooks/model-hooks.ts';
import { InputGuard } from './input-guard.ts';
import { ModelFailures } from './model-failures.ts';
import { ownRenderers } from './own-renderers.ts';
import { AgentPrompts, type PreparedCall, type PromptRequest } from './prompts.ts';
import type { RoundReport } from './round-report.ts';

interface Prepared {
  readonly call: PreparedCall;
  /** Answer that a hook gave in the place of the model. */
  readonly given: GivenAnswer | undefined;
}

/**
 * Maker of the model calls of one agent invocation. It takes all steps from the decision for a call
 * to its recorded answer.
 */
export class ModelRounds {
  readonly #parts: AgentParts;
  readonly #report: RoundReport;
  readonly #prompts: AgentPrompts;
  readonly #compaction: AgentCompaction;
  readonly #inputGuard: InputGuard;
  readonly #answers: AnswerPipeline;
  readonly #failures: ModelFailures;
  readonly #hasAnswerChecks: boolean;
  /**
   * Ladder of models. It is made at the first failed call, or when the agent continues with another
   * model than its first.
   */
  #levels: readonly FallbackLevel[] | undefined;

  constructor(parts: AgentParts, report: RoundReport) {
    this.#parts = parts;
    this.#report = report;
    const { agent, frame, position, hooks, supervision, compaction, tools } = parts;
    const { guardrails } = supervision;
    const renderers = [
      ...answerRenderers(agent),
      ...(hooks?.renderers ?? []),
      ...ownRenderers(agent, frame.run.ledger.invocations.outside),
    ];
    this.#prompts = new AgentPrompts({ frame, agent, renderers, compaction });
    this.#failures = new ModelFailures({
      frame,
      position,
      hooks,
      compaction,
      levels: () => this.#fallbackLevels,
    });
    const largerWindow = () => this.#failures.largerWindow();
    this.#compaction = new AgentCompaction({
      frame,
      agent,
      position,
      compaction,
      prompts: this.#prompts,
      work: parts.work,
      largerWindow,
    });
    this.#inputGuard = new InputGuard({ frame, agent: agent.name, position, guardrails });
    const judge = new AnswerJudge({ agent, frame, position });
    this.#answers = new AnswerPipeline({
      frame,
      agent: agent.name,
      tools,
      hooks,
      guardrails,
      judge,
    });
    this.#hasAnswerChecks =
      hooks !== undefined || judge.isNeeded || guardrailsAt(guardrails, 'output').length > 0;
  }

  get #fallbackLevels(): readonly FallbackLevel[] {
    const { agent } = this.#parts;
    this.#levels ??= fallbackLevels([agent.model, ...agent.fallbackModels].map(toModel));
    return this.#levels;
  }

  /** Model in use: the first one, or the one of the step that failures have led to. */
  get #model(): Model {
    const { agent, position } = this.#parts;
    return position.model.index === 0
      ? toModel(agent.model)
      : (this.#fallbackLevels[position.model.index]?.model ?? toModel(agent.model));
  }

  async call(intent: Extract<Intent, { type: 'model' }>): Promise<void> {
    const { frame, budget } = this.#parts;
    const { run, scope } = frame;
    if (intent.notBefore !== undefined) await this.#waitUntil(intent.notBefore);
    run.ledger.ports.recording?.beforeRound(run.runId);
    if (run.turnOfWorker !== undefined) {
      await run.turnOfWorker.beforeRound(run);
      if (run.gate.isClosed) return;
    }
    if (run.onStep !== undefined) await this.#report.send();
    const refreshing = this.#refresh();
    if (refreshing !== undefined) await refreshing;
    if (scope.aborted || run.isCutShort) return;
    if (this.#inputGuard.refuses(intent.round)) return;
    const { unseen } = this.#parts.position.turn;
    const model = this.#model;
    const preparing = this.#prepare(intent, model);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    if (prepared === undefined || scope.aborted) return;
    // A compacted prompt is made anew: the next step is decided again.
    const compacting = this.#compaction.guard(prepared.call, model);
    if (compacting !== false && (await compacting)) return;
    if (scope.aborted || run.isCutShort) return;
    // A new message has not passed the guardrails, and the prompt may not contain it.
    if (this.#parts.position.turn.unseen !== unseen) return;
    // Without room the next step is decided again. The start of the call makes the reservation. No
    // other call may begin between this check and that start.
    const { tokens, characters } = prepared.call;
    const room = budget.admit({
      tokens,
      characters,
      model,
      final: intent.final,
      isFree: prepared.given !== undefined,
    });
    if (typeof room === 'string') return;
    await performModelCall(this.#requestOf(intent, model, prepared, room), this.#ports(intent));
  }

  /** Waits for the time of a repeated call. An interruption ends the wait. */
  async #waitUntil(at: number): Promise<void> {
    const { run, scope: parent } = this.#parts.frame;
    const { close, scope } = interruptible(parent, run.interruptions);
    await sleepUntil({ run, scope }, at);
    close();
  }

  /**
   * Prepares the prompt, and the answer that hooks give in the place of the model. Returns
   * `undefined` when the call is not to be made.
   */
  #prepare(
    intent: Extract<Intent, { type: 'model' }>,
    model: Model,
  ): Prepared | Promise<Prepared | undefined> {
    const { hooks, tools, position } = this.#parts;
    const request = {
      round: intent.round,
      tools: tools.all(),
      final: intent.final,
      model,
      resultLimit: position.prompt.resultLimit,
      rewrite: this.#inputGuard.rewrite,
      responseFormat: responseFormatOf(
        this.#parts.agent,
        model,
        !intent.final && tools.all().length > 0,
      ),
    };
    if (hooks?.has('beforeModel') === true) return this.#prepareAsked(request, hooks);
    const made = this.#prompts.prepare(request);
    if (!(made instanceof Promise)) return { call: made, given: undefined };
    return made.then((call) => (call === undefined ? undefined : { call, given: undefined }));
  }

  async #prepareAsked(request: PromptRequest, hooks: HookPipeline): Promise<Prepared | undefined> {
    let verdict: BeforeModel | undefined;
    const adjust = async (context: RenderContext): Promise<RenderContext> => {
      verdict = await hooks.model.before(context);
      return verdict?.kind === 'prompt' ? verdict.prompt : context;
    };
    const call = await this.#prompts.prepare({ ...request, adjust });
    if (call === undefined) return undefined;
    if (verdict?.kind === 'transfer') {
      this.#transfer(verdict.target, verdict.by);
      return undefined;
    }
    const given =
      verdict?.kind === 'answer'
        ? givenAnswer(
            verdict.answer,
            `beforeModel of ${verdict.by}`,
            givenCallId(this.#parts.frame),
          )
        : undefined;
    return { call, given };
  }

  #transfer(target: Runnable, by: string): void {
    const { frame, hooks } = this.#parts;
    const writes = hooks?.takeWrites();
    frame.run.ledger.append(
      [...(writes?.drafts ?? []), ...transferDrafts(frame, target, by, 'beforeModel')],
      writes?.extras,
    );
  }

  #requestOf(
    intent: Extract<Intent, { type: 'model' }>,
    model: Model,
    { call, given }: Prepared,
    room: CallAllowance,
  ): ModelCallRequest {
    const { agent, frame, position, tools } = this.#parts;
    return {
      path: frame.record.path,
      agent: agent.name,
      model,
      round: intent.round,
      attempt: intent.attempt,
      errorsBefore: position.model.errors,
      options:
        room.maxOutputTokens === undefined
          ? call.options
          : { ...call.options, maxOutputTokens: room.maxOutputTokens },
      mostCost: room.mostCost,
      recipe: call.recipe,
      characters: call.characters,
      replacesText: intent.attempt > 1 && position.answer.text === '',
      final: intent.final,
      toolName: (wireName) => tools.canonicalName(wireName),
      given,
    };
  }

  #ports({ round, final }: Extract<Intent, { type: 'model' }>): ModelCallPorts {
    const { frame, hooks, work } = this.#parts;
    const { run } = frame;
    const model = this.#model;
    const standIn = run.app.standIns?.model;
    return {
      ledger: run.ledger,
      clock: run.app.clock,
      random: run.app.random,
      scope: work,
      prices: run.app.prices,
      defaults: run.app.defaults,
      emit: run.emit,
      interruptions: run.interruptions,
      hasNews: () => this.#parts.position.turn.unseen > 0,
      plan: (failed) => this.#failures.plan(failed),
      ...(this.#hasAnswerChecks
        ? {
            process: (answer, substitutedBy) =>
              this.#answers.process({
                answer,
                round,
                final,
                substitutedBy,
                callId: givenCallId(this.#parts.frame),
              }),
            processCut: (answer) =>
              this.#answers.processCut({
                answer,
                round,
                final,
                substitutedBy: undefined,
                callId: givenCallId(this.#parts.frame),
              }),
          }
        : {}),
      ...(standIn === undefined
        ? {}
        : { standIn: (request) => standIn(request.model, standInCall(request)) }),
      landing: (events) => {
        hooks?.takeWrites();
        this.#failures.landing(events);
      },
      ...(run.tracing === undefined ? {} : { around: run.tracing.model }),
      ...(hooks?.has('wrapModel') === true ? { wrap: (loaded) => hooks.wrap(loaded) } : {}),
      ...(hooks?.has('beforeCall') === true
        ? { beforeCall: (options) => this.#beforeCall(hooks, modelName(model), options) }
        : {}),
    };
  }

  async #beforeCall(
    hooks: HookPipeline,
    model: string,
    options: LanguageModelV4CallOptions,
  ): Promise<GivenAnswer | undefined> {
    const found = await hooks.model.beforeCall({ model, options });
    return found === undefined
      ? undefined
      : givenAnswer(found.answer, found.by, givenCallId(this.#parts.frame));
  }

  /**
   * Makes the prompt shorter after the provider has refused it as too long. The agent is to fail
   * when nothing more can be left out.
   */
  recoverFromOverflow(): Promise<void> {
    return this.#compaction.recover(this.#model);
  }

  /**
   * Refreshes the shared state that the prompt may need; `undefined` when there is nothing to
   * fetch. An unavailable store does not fail the agent: the run is released.
   */
  #refresh(): Promise<void> | undefined {
    const { run } = this.#parts.frame;
    if (run.session.shared.names.length === 0) return undefined;
    return run.session
      .observeShared({ path: this.#parts.frame.record.path })
      .catch((error: unknown) => {
        if (!isAdjutantError(error, 'store_unavailable')) throw error;
        run.release.becauseOf(error);
      });
  }
}
