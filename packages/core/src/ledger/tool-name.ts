/**
 * The name of a tool for model providers, which refuse dots: two underscores follow the name space.
 * Recorded prompts are rebuilt with it, so it never changes.
 */
export function toolWireName(name: string): string {
  return name.includes('.') ? name.replaceAll('.', '__') : name;
}
