import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { CancelScope } from '../../base/cancel-scope.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Event, EventDraft, TransientEvent } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { PromptRecipe } from '../../ledger/prompt-recipe.ts';
import type { ModelAnswer } from '../../models/answer.ts';
import type { ModelError } from '../../models/errors.ts';
import type { Model, Price } from '../../models/model.ts';
import type { ResolvedDefaults } from '../runtime-defaults.ts';
import type { Writes } from '../writes.ts';
import type { GivenAnswer, ProcessedAnswer } from './model-answer.ts';

/** One model call of an agent, ready to be made. */
export interface ModelCallRequest {
  readonly path: string;
  readonly agent: string;
  readonly model: Model;
  readonly round: number;
  readonly attempt: number;
  /** Failed attempts of this round before this one. */
  readonly errorsBefore: number;
  readonly options: LanguageModelV4CallOptions;
  /** US dollars that are reserved for the call. */
  readonly mostCost?: number | undefined;
  readonly recipe: PromptRecipe;
  /** Characters of the prompt. */
  readonly characters: number;
  /** True when text of an earlier attempt was streamed that is not recorded. */
  readonly replacesText: boolean;
  /** True when the answer must come without tools: tool calls in it are dropped. */
  readonly final: boolean;
  /** Returns the name of a tool for the name that the model was given. */
  readonly toolName: (wireName: string) => string;
  /** Answer that replaces the call. With it, the model is not called. */
  readonly given?: GivenAnswer | undefined;
}

/** Decision about a model call that failed. */
export interface FailurePlan {
  /** Milliseconds to the next attempt. `undefined`: there is none. */
  readonly retryAfterMs: number | undefined;
  /** Answer that replaces the missing one. */
  readonly given?: GivenAnswer | undefined;
  readonly decisions: readonly EventDraft[];
  /** State written by the hooks that were asked. */
  readonly writes?: Writes;
}

/** A model call that failed, and the retry that the settings of the model provide. */
export interface FailedCall {
  readonly error: ModelError;
  /** Attempts of this round with this model so far, this one included. */
  readonly attempts: number;
  readonly retryAfterMs: number | undefined;
  /** True when the model answered with nothing at all. */
  readonly isEmpty: boolean;
  /** True when there is an answer of last resort: the words of a refusal. */
  readonly isUsable: boolean;
}

export interface ModelCallPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly scope: CancelScope;
  readonly prices: Readonly<Record<string, Price>> | undefined;
  /** Settings of the app that hold where the model has none of its own. */
  readonly defaults: ResolvedDefaults;
  /** Receives transient events. Missing when nobody listens. */
  readonly emit: ((event: TransientEvent) => void) | undefined;
  /** Functions that cut off the calls under way. */
  readonly interruptions: Set<() => void>;
  /** Returns the model that replaces the agent's own one in tests. */
  standIn?(request: ModelCallRequest): LanguageModelV4;
  /** Returns the model with its `wrapModel` hooks around it. */
  wrap?(model: LanguageModelV4): LanguageModelV4;
  /** Runs the work of a request inside the tracing of the run. */
  around?<Result>(request: ModelCallRequest, work: () => Promise<Result>): Promise<Result>;
  beforeCall?(options: LanguageModelV4CallOptions): Promise<GivenAnswer | undefined>;
  /** Processes an answer before it is recorded. */
  process?(
    answer: ModelAnswer,
    substitutedBy: string | undefined,
  ): ProcessedAnswer | Promise<ProcessedAnswer>;
  /** Processes an answer that was cut off, before as much of it as had come is recorded. */
  processCut?(answer: ModelAnswer): ProcessedAnswer | Promise<ProcessedAnswer>;
  /** True when messages have come that no prompt has contained yet. */
  hasNews(): boolean;
  /**
   * Called in a replay, right before the recorded end of the call enters the ledger. State that
   * hooks have written lands with it.
   */
  landing?(events: readonly Event[]): void;
  /** Decides about a failure. */
  plan(failed: FailedCall): FailurePlan | Promise<FailurePlan>;
}
