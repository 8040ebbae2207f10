import type { ErrorRecord } from '../../base/error.ts';
import type { PromptRecipe } from '../prompt-recipe.ts';
import type { Envelope } from './envelope.ts';

/** Token counts of one model call. Parts that the provider does not report are left out. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

export interface ModelStartEvent extends Envelope<'model_start'> {
  readonly invocationId: string;
  readonly agent: string;
  readonly round: number;
  readonly attempt: number;
  /** `provider:model`. */
  readonly model: string;
  readonly recipe: PromptRecipe;
  readonly estimatedInputTokens: number;
  readonly maxOutputTokens?: number;
  /** Highest possible cost in US dollars; only where dollars are limited. */
  readonly mostCost?: number;
}

export interface ModelEndEvent extends Envelope<'model_end'> {
  readonly invocationId: string;
  readonly round: number;
  readonly attempt: number;
  readonly status: 'completed' | 'error' | 'interrupted' | 'cancelled';
  readonly usage: Usage;
  /** Set when the usage was estimated, not reported. */
  readonly estimated?: true;
  /** US dollars; missing when the model's price is not known. */
  readonly cost?: number;
  readonly durationMs: number;
  readonly timeToFirstTokenMs?: number;
  readonly finishReason?: string;
  readonly error?: ErrorRecord;
  /** Milliseconds after which another attempt is made; missing when there will be none. */
  readonly retryAfterMs?: number;
  /** The hook or cache that answered instead of the model, which was not called. */
  readonly substitutedBy?: string;
}
