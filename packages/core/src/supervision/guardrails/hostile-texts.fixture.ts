/**
 * Long texts that are slow for patterns whose time grows with the square of the length; each with
 * its name.
 */
export function hostileTexts(units: readonly string[]): readonly (readonly [string, string])[] {
  const length = 300_000;
  const common = ['a', ' ', '\n', '.', '0', '-', 'a ', 'a.', '0 ', '0-', '_', '(', '\u00e9'];
  return [...common, ...units].map((unit) => [
    JSON.stringify(unit),
    unit.repeat(Math.ceil(length / unit.length)),
  ]);
}
