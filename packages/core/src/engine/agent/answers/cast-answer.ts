/** Most characters of a text with one number or one word. */
const longestPrimitive = 100;
/** Number with groups of three digits, as people write large numbers. */
const grouped = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const plain = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Returns the number or truth value of a text that contains nothing else. Quotes, stars and a full
 * stop around it are ignored.
 */
export function castAnswer(text: string, form: 'number' | 'boolean'): number | boolean | undefined {
  if (text.length > longestPrimitive) return undefined;
  const bare = text
    .trim()
    .replace(/^["'`*]{1,4}/, '')
    .replace(/["'`*.]{1,4}$/, '')
    .trim();
  return form === 'number' ? castNumber(bare) : castTruth(bare.toLowerCase());
}

function castNumber(text: string): number | undefined {
  if (!grouped.test(text) && !plain.test(text)) return undefined;
  const value = Number(text.replaceAll(',', ''));
  return Number.isFinite(value) ? value : undefined;
}

function castTruth(text: string): boolean | undefined {
  if (text === 'true' || text === 'yes') return true;
  return text === 'false' || text === 'no' ? false : undefined;
}
