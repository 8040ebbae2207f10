import { type ModelInput, type Price, toModel } from '../model.ts';
import { priceOf } from './price.ts';
import { contextWindowOf } from './window.ts';

/** Facts by which people choose a model. */
export interface ModelFacts {
  /** Tokens that prompt and answer may have together. */
  readonly contextWindow: number;
  /** US dollars for a million tokens. Missing when nobody knows it. */
  readonly price?: Price;
}

/**
 * Returns the context window and the price of a model: its own, else those of the tables.
 * @param prices prices of an app, by `provider:modelId` or the model id
 */
export function modelFacts(
  input: ModelInput,
  prices?: Readonly<Record<string, Price>>,
): ModelFacts {
  const model = toModel(input);
  const price = priceOf(model, prices);
  const contextWindow = contextWindowOf(model);
  return price === undefined ? { contextWindow } : { contextWindow, price };
}
