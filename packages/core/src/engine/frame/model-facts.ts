import { priceOf } from '../../models/measures/price.ts';
import type { Model, Price } from '../../models/model.ts';
import type { Rates } from '../../supervision/limits.ts';

/** Prices of a model and the tokens that it may think. */
export interface ModelFacts {
  readonly rates: Rates | undefined;
  /** Tokens that it may think beyond `maxOutputTokens`. */
  readonly thinking: number;
}

/** Facts of a model without a known price. */
export const noFacts: ModelFacts = Object.freeze({ rates: undefined, thinking: 0 });

type Prices = Readonly<Record<string, Price>> | undefined;

/** Returns the facts of a model whose settings are known. */
export function factsOfModel(model: Model, prices: Prices): ModelFacts {
  return { rates: ratesAt(priceOf(model, prices)), thinking: thinkingOf(model) };
}

/** Returns the facts of a model known only by its name, such as one that another process called. */
export function factsByName(name: string, prices: Prices): ModelFacts {
  const colon = name.indexOf(':');
  const named = {
    kind: 'model',
    provider: name.slice(0, colon),
    modelId: name.slice(colon + 1),
    settings: {},
  } as Model;
  return { rates: ratesAt(priceOf(named, prices)), thinking: 0 };
}

/**
 * Returns the rates for one token. Tokens read from a cache or written to one have other prices:
 * the greatest price is the one to rely on.
 */
function ratesAt(price: Price | undefined): Rates | undefined {
  if (price === undefined) return undefined;
  const input = Math.max(price.input, price.cachedInput ?? 0, price.cacheWrite ?? 0);
  return { input: input / 1_000_000, output: price.output / 1_000_000 };
}

/** Returns Claude's budget for thinking: the AI SDK adds it to the limit of an answer. */
function thinkingOf({ settings }: Model): number {
  const thinking = settings.providerOptions?.['anthropic']?.['thinking'] as
    | { type?: unknown; budgetTokens?: unknown }
    | undefined;
  return thinking?.type === 'enabled' && typeof thinking.budgetTokens === 'number'
    ? thinking.budgetTokens
    : 0;
}
