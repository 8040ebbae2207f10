import type { Usage } from '../../ledger/event.ts';
import type { Model, Price } from '../model.ts';
import { findByModelId } from '../model-id.ts';
import { priceTable } from './price-table.ts';

/** Prices of the table by model: it is asked after every call. */
const tablePrices = new WeakMap<Model, Price | undefined>();

function tablePrice(model: Model): Price | undefined {
  if (tablePrices.has(model)) return tablePrices.get(model);
  const row = findByModelId(priceTable, model.modelId);
  let price: Price | undefined;
  if (row !== undefined) {
    const [input, cachedInput, output, cacheWrite = input] = row;
    price = { input, cachedInput, output, cacheWrite };
  }
  tablePrices.set(model, price);
  return price;
}

/**
 * Returns the price of a model: that of `overrides` for `provider:modelId` or the model id, else
 * the model's own price, else that of the table. `undefined` when none of them knows the model.
 */
export function priceOf(
  model: Model,
  overrides?: Readonly<Record<string, Price>>,
): Price | undefined {
  const override = overrides?.[`${model.provider}:${model.modelId}`] ?? overrides?.[model.modelId];
  if (override !== undefined) return override;
  return model.price ?? tablePrice(model);
}

/**
 * Returns the US dollars that a call cost, or `undefined` when the price is not known. Reasoning
 * tokens are part of the output tokens.
 */
export function costOf(
  model: Model,
  usage: Usage,
  overrides?: Readonly<Record<string, Price>>,
): number | undefined {
  const price = priceOf(model, overrides);
  if (price === undefined) return undefined;
  const cached = usage.cachedInputTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const fresh = Math.max(0, usage.inputTokens - cached - written);
  const millionths =
    fresh * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    usage.outputTokens * price.output;
  return millionths / 1_000_000;
}
