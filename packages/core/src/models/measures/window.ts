import type { Model } from '../model.ts';
import { findByModelId } from '../model-id.ts';

const unknownModelWindow = 128_000;

/** Tokens that prompt and answer may have together, without long-context betas. */
const table: { readonly [modelId: string]: number } = {
  'gpt-6.1-sol': 1_050_000,
  'gpt-6.1-terra': 1_050_000,
  'gpt-6-sol': 1_050_000,
  'gpt-6-luna': 1_050_000,
  'gpt-5.2': 400_000,
  'gpt-5.1': 400_000,
  'gpt-5': 400_000,
  'gpt-5-mini': 400_000,
  'gpt-5-nano': 400_000,
  'gpt-5-pro': 400_000,
  'gpt-4.1': 1_047_576,
  'gpt-4.1-mini': 1_047_576,
  'gpt-4.1-nano': 1_047_576,
  'gpt-4o': 128_000,
  'gpt-4o-mini': 128_000,
  o3: 200_000,
  'o3-mini': 200_000,
  'o4-mini': 200_000,
  'gemini-4-argon': 1_048_576,
  'gemini-4-carbon': 1_048_576,
  'gemini-3.1-pro-preview': 1_048_576,
  'gemini-3-pro-preview': 1_048_576,
  'gemini-3-flash-preview': 1_048_576,
  'gemini-2.5-pro': 1_048_576,
  'gemini-2.5-flash': 1_048_576,
  'gemini-2.5-flash-lite': 1_048_576,
  'gemini-2.0-flash': 1_048_576,
  'claude-fable-5-1': 1_000_000,
  'claude-opus-5-5': 1_000_000,
  'claude-opus-5': 1_000_000,
  'claude-sonnet-5-5': 1_000_000,
  'claude-haiku-5-5': 1_000_000,
  'claude-opus-4-6': 200_000,
  'claude-opus-4-5': 200_000,
  'claude-opus-4-1': 200_000,
  'claude-opus-4': 200_000,
  'claude-sonnet-4-6': 200_000,
  'claude-sonnet-4-5': 200_000,
  'claude-sonnet-4': 200_000,
  'claude-haiku-4-5': 200_000,
  'claude-3-haiku': 200_000,
};

/**
 * The model's context window in tokens: its own setting, else what is known of its id, else
 * 128,000.
 */
export function contextWindowOf(model: Model): number {
  return model.contextWindow ?? findByModelId(table, model.modelId) ?? unknownModelWindow;
}
