/**
 * The day on which the price table was compiled, from public pages. Prices that matter belong into
 * `runtime({ prices })`.
 */
export const priceTableDate = '2026-11-21';

/**
 * US dollars for a million tokens at the standard rate: no batch, flex or priority processing, no
 * surcharge for long prompts or for a region. `[input, cached input, output, cache write]`; a cache
 * write that is left out costs what input costs.
 */
export const priceTable: {
  readonly [modelId: string]: readonly [number, number, number, number?];
} = {
  'gpt-6.1-sol': [2, 0.1, 10, 2.5],
  'gpt-6.1-terra': [1, 0.05, 5, 1.25],
  'gpt-6-astra': [10, 1, 50, 12.5],
  'gpt-6-sol': [2, 0.2, 10, 2.5],
  'gpt-6-luna': [0.1, 0.01, 0.5, 0.125],
  'gpt-5.6-terra': [2, 0.2, 12],
  'gpt-5.6-luna': [0.2, 0.02, 1.2],
  'gpt-5.5': [5, 0.5, 30],
  'gpt-5.4': [2.5, 0.25, 15],
  'gpt-5.4-mini': [0.75, 0.075, 4.5],
  'gpt-5.4-nano': [0.2, 0.02, 1.25],
  'gpt-5.2': [1.75, 0.175, 14],
  'gpt-5.2-pro': [21, 21, 168],
  'gpt-5.1': [1.25, 0.125, 10],
  'gpt-5': [1.25, 0.125, 10],
  'gpt-5-mini': [0.25, 0.025, 2],
  'gpt-5-nano': [0.05, 0.005, 0.4],
  'gpt-5-pro': [15, 15, 120],
  'gpt-4.1': [2, 0.5, 8],
  'gpt-4.1-mini': [0.4, 0.1, 1.6],
  'gpt-4.1-nano': [0.1, 0.025, 0.4],
  'gpt-4o': [2.5, 1.25, 10],
  'gpt-4o-mini': [0.15, 0.075, 0.6],
  o3: [2, 0.5, 8],
  'o3-mini': [1.1, 0.55, 4.4],
  'o4-mini': [1.1, 0.275, 4.4],
  // Half of this until 2026-11-30; the lasting price is the one that budgets should count on.
  'gemini-4-argon': [4, 0.2, 20],
  'gemini-4-carbon': [4, 0.2, 20],
  'gemini-3.1-pro-preview': [2, 0.2, 12],
  'gemini-3.1-flash-lite-preview': [0.25, 0.025, 1.5],
  'gemini-3-pro-preview': [2, 0.2, 12],
  'gemini-3-flash-preview': [0.5, 0.05, 3],
  'gemini-2.5-pro': [1.25, 0.125, 10],
  'gemini-2.5-flash': [0.3, 0.03, 2.5],
  'gemini-2.5-flash-lite': [0.1, 0.01, 0.4],
  'gemini-2.0-flash': [0.1, 0.025, 0.4],
  'claude-fable-5-1': [10, 0.25, 50, 12.5],
  'claude-fable-5': [10, 1, 50, 12.5],
  'claude-opus-5-5': [4, 0.2, 20, 5],
  'claude-opus-5': [5, 0.5, 25, 6.25],
  'claude-opus-4-8': [5, 0.5, 25, 6.25],
  'claude-opus-4-7': [5, 0.5, 25, 6.25],
  'claude-opus-4-6': [5, 0.5, 25, 6.25],
  'claude-opus-4-5': [5, 0.5, 25, 6.25],
  'claude-opus-4-1': [15, 1.5, 75, 18.75],
  'claude-opus-4': [15, 1.5, 75, 18.75],
  'claude-sonnet-5-5': [2, 0.1, 10, 2.5],
  'claude-sonnet-5': [2, 0.2, 10, 2.5],
  'claude-sonnet-4-6': [3, 0.3, 15, 3.75],
  'claude-sonnet-4-5': [3, 0.3, 15, 3.75],
  'claude-sonnet-4': [3, 0.3, 15, 3.75],
  'claude-haiku-5-5': [0.1, 0.01, 0.5, 0.125],
  'claude-haiku-4-5': [1, 0.1, 5, 1.25],
  'claude-3-haiku': [0.25, 0.03, 1.25, 0.3],
};
