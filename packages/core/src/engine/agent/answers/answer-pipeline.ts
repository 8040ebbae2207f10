import { defined } from '../../../base/defined.ts';
import type { JsonValue } from '../../../base/json.ts';
import {
  answerOfSteps,
  type ProcessedAnswer,
  stepEventsOf,
} from '../../../effects/model-call/model-answer.ts';
import { decision, isDecision } from '../../../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../../../ledger/event.ts';
import type { ModelAnswer } from '../../../models/answer.ts';
import type { Runnable } from '../../../session/runnable.ts';
import { applyGuardrails, type Guardrail, guardrailsAt } from '../../../supervision/guardrail.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { planHandoff } from '../../invoke/handoff.ts';
import type { HookPipeline } from '../hooks/hook-pipeline.ts';
import { guardrailDraft } from '../supervision/decision-draft.ts';
import type { AgentTools } from '../tool-lookup.ts';

/** Judge that decides whether an answer has the requested form and reaches the goal. */
export interface Judge {
  readonly isNeeded: boolean;
  judge(answer: {
    readonly text: string;
    readonly hasToolCalls: boolean;
    readonly final: boolean;
    readonly isCutOff: boolean;
  }): Promise<{
    readonly parsed?: JsonValue | undefined;
    readonly decisions: readonly EventDraft[];
  }>;
}

/** Answer that is checked before it is recorded. */
export interface AnswerInQuestion {
  readonly answer: ModelAnswer;
  readonly round: number;
  /** True when the answer is given without tools, because a limit is reached. */
  readonly final: boolean;
  readonly substitutedBy: string | undefined;
  readonly callId: string;
}

/**
 * Steps for each answer of an agent before it is recorded: hooks, then guardrails, then the
 * `Judge`.
 */
export class AnswerPipeline {
  readonly #frame: BodyFrame;
  readonly #agent: string;
  readonly #tools: AgentTools;
  readonly #hooks: HookPipeline | undefined;
  readonly #guardrails: readonly Guardrail[];
  readonly #judge: Judge;

  constructor(parts: {
    readonly frame: BodyFrame;
    readonly agent: string;
    readonly tools: AgentTools;
    readonly hooks: HookPipeline | undefined;
    readonly guardrails: readonly Guardrail[];
    readonly judge: Judge;
  }) {
    this.#frame = parts.frame;
    this.#agent = parts.agent;
    this.#tools = parts.tools;
    this.#hooks = parts.hooks;
    this.#guardrails = guardrailsAt(parts.guardrails, 'output');
    this.#judge = parts.judge;
  }

  /**
   * Returns the processed answer: without a promise if there are no hooks and no judge is needed.
   */
  process(given: AnswerInQuestion): ProcessedAnswer | Promise<ProcessedAnswer> {
    if (this.#hooks === undefined && !this.#judge.isNeeded)
      return this.#checked(given, given.answer, []);
    return this.#processAll(given);
  }

  /**
   * Returns the text of an answer that was cut off, as hooks and guardrails leave it: no text when
   * a guardrail denies it. The agent goes on after it, so nothing judges or ends it by this text.
   */
  processCut(given: AnswerInQuestion): ProcessedAnswer | Promise<ProcessedAnswer> {
    return this.#hooks === undefined
      ? this.#checkedCut(given, given.answer)
      : this.#hookedCut(given);
  }

  async #hookedCut(given: AnswerInQuestion): Promise<ProcessedAnswer> {
    const { answer } = await this.#afterModel(given);
    const checked = this.#checkedCut(given, answer);
    const writes = this.#hooks?.takeWrites();
    return { ...checked, before: writes?.drafts ?? [], extras: writes?.extras };
  }

  #checkedCut(given: AnswerInQuestion, answer: ModelAnswer): ProcessedAnswer {
    const checked = this.#checked(given, answer, []);
    if (!isRefused(checked.decisions)) return checked;
    return { ...checked, answer: { ...answer, texts: [] }, decisions: [] };
  }

  async #processAll(given: AnswerInQuestion): Promise<ProcessedAnswer> {
    const { answer, target, by } = await this.#afterModel(given);
    const transfer = target === undefined ? [] : this.#transfer(target, by ?? '');
    // The tool calls of an answer are dropped after a handoff by a hook.
    const handed = transfer.length === 0 ? answer : { ...answer, toolCalls: [] };
    const checked = this.#checked(given, handed, transfer);
    const writes = this.#hooks?.takeWrites();
    const processed = { ...checked, before: writes?.drafts ?? [], extras: writes?.extras };
    if (!this.#judge.isNeeded || transfer.length > 0 || isRefused(checked.decisions))
      return processed;
    const text = textOf(checked.answer);
    const { toolCalls, finishReason } = checked.answer;
    const inQuestion = {
      text,
      hasToolCalls: toolCalls.length > 0,
      final: given.final,
      isCutOff: finishReason === 'length',
    };
    const { parsed, decisions } = await this.#judge.judge(inQuestion);
    return { ...processed, parsed, decisions: [...checked.decisions, ...decisions] };
  }

  async #afterModel({
    answer,
    substitutedBy,
    callId,
  }: AnswerInQuestion): Promise<{ answer: ModelAnswer; target?: Runnable; by?: string }> {
    if (this.#hooks?.has('afterModel') !== true) return { answer };
    const stepEvents = stepEventsOf(answer, (name) => this.#tools.canonicalName(name));
    const usage = answer.usage ?? { inputTokens: 0, outputTokens: 0 };
    const { result, target, by } = await this.#hooks.model.after({
      stepEvents,
      usage,
      finishReason: answer.finishReason,
      substitutedBy,
    });
    const changed =
      result.stepEvents === stepEvents ? answer : answerOfSteps(result.stepEvents, callId, answer);
    return {
      answer: changed,
      ...defined({ target, by }),
    };
  }

  #transfer(target: Runnable, by: string): EventDraft[] {
    return transferDrafts(this.#frame, target, by, 'afterModel');
  }

  #checked(
    { round }: AnswerInQuestion,
    answer: ModelAnswer,
    before: readonly EventDraft[],
  ): ProcessedAnswer {
    const text = this.#guardrails.length === 0 ? '' : textOf(answer);
    if (text === '') return { answer, before: [], decisions: before, extras: undefined };
    const check = {
      agent: this.#agent,
      round,
      text,
      tools: this.#tools.all().map(({ name }) => name),
    };
    const { value, denied, decisions } = applyGuardrails('output', this.#guardrails, check);
    if (decisions.length === 0) return { answer, before: [], decisions: before, extras: undefined };
    const { path, events } = this.#frame.record;
    const said = denied === undefined ? String(value) : denied.message;
    // The thoughts before a refused text may contain the same content.
    const withheld = denied === undefined ? {} : { thoughts: [], toolCalls: [] };
    const changed = said === text ? answer : { ...answer, texts: [{ text: said }], ...withheld };
    // A model that ignores its guidance would use up all of its rounds.
    const isHeard = events.filter(isGuidance).length < mostGuided;
    const drafts = decisions.map(({ tell, ...decided }) =>
      guardrailDraft(path, { ...decided, ...(isHeard ? defined({ tell }) : {}) }),
    );
    return { answer: changed, before: [], decisions: [...before, ...drafts], extras: undefined };
  }
}

/** Guidance decisions about answers after which guardrails no longer make an agent answer again. */
const mostGuided = 2;

function isGuidance(event: Event): boolean {
  return (
    isDecision(event, 'guardrail') && event.data?.point === 'output' && event.tell !== undefined
  );
}

function textOf({ texts }: ModelAnswer): string {
  return texts.map(({ text }) => text).join('');
}

function isRefused(decisions: readonly EventDraft[]): boolean {
  return decisions.some((draft) => isDecision(draft, 'guardrail', 'deny'));
}

/**
 * Returns the events of a handoff by a hook. The agent ends with it as soon as its calls are
 * settled, or fails when the handoff is refused.
 */
export function transferDrafts(
  frame: BodyFrame,
  target: Runnable,
  by: string,
  hook: string,
): EventDraft[] {
  const { run, record } = frame;
  const plan = planHandoff(run, record.path, target);
  if ('refused' in plan) {
    const failure = { name: 'HandoffRefusedError', code: 'handoff_refused', message: plan.refused };
    return [
      decision('hooks', 'refuse_transfer', {
        invocationId: record.path,
        reasoning:
          `${hook} of ${by} handed over to "${target.name}", which is refused: ` +
          `${plan.refused}.`,
        data: { failure },
      }),
    ];
  }
  const next = {
    name: plan.next.name,
    ...(plan.next.input === undefined ? {} : { input: { ...plan.next.input } }),
  };
  return [
    ...plan.drafts,
    decision('hooks', 'transfer', {
      invocationId: record.path,
      reasoning: `${hook} of ${by} handed over to "${target.name}".`,
      data: { next },
    }),
  ];
}
