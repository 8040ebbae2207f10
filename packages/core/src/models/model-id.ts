/**
 * Returns the entry of a table for a model. Providers put the vendor before an id (`models/…`,
 * `anthropic.…`) and a date, a version or `latest` behind it: `gpt-5-mini-2025-08-07`,
 * `claude-opus-4-1@20250805`, `gemini-2.0-flash-001`. A name with another suffix is another model
 * and is not found.
 */
export function findByModelId<Row>(
  table: { readonly [modelId: string]: Row },
  modelId: string,
): Row | undefined {
  if (Object.hasOwn(table, modelId)) return table[modelId];
  const bare = modelId
    .replace(/^.*\//, '')
    .replace(/^anthropic\./, '')
    .replace(/(@.*|-v\d+:\d+)$/, '')
    .replace(/-(latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|preview-\d{2}-\d{2,4})$/, '')
    .replace(/^(claude-(?:opus|sonnet))-4-0$/, '$1-4');
  return Object.hasOwn(table, bare) ? table[bare] : undefined;
}
