/** One key of a provider or several, which are used one after the other when calls are refused. */
export type ApiKeys = string | readonly string[];

/**
 * Returns the keys of the first source that has any. `keysOf` has split those from the environment.
 */
export function firstKeys(...sources: readonly (ApiKeys | undefined)[]): readonly string[] {
  for (const source of sources) {
    const keys = (typeof source === 'string' ? [source] : (source ?? [])).filter(
      (key) => key !== '',
    );
    if (keys.length > 0) return keys;
  }
  return [];
}

/**
 * The keys in a variable of the environment: several are separated by commas, which no provider's
 * keys contain.
 */
export function keysOf(variable: string | undefined): readonly string[] {
  return (variable ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
}
