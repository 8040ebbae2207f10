import type { Model } from './model.ts';

/** A rough count of tokens, four characters to a token, from a text or from its length. For budgets and for calls whose usage was lost. */
export function estimateTokens(text: string | number): number {
  return Math.ceil((typeof text === 'string' ? text.length : text) / 4);
}

/** Tokens of a text for this model: as its `countTokens` counts, else estimated. */
export function tokensOf(model: Model, text: string): number {
  return model.countTokens?.(text) ?? estimateTokens(text);
}
