/**
 * The name that a tool has for model providers, which refuse dots: the name space is parted by two
 * underscores. Recorded prompts are rebuilt with it, so it never changes.
 */
export function toolWireName(name: string): string {
  return name.includes('.') ? name.replaceAll('.', '__') : name;
}
