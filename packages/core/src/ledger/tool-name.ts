/**
 * The name of a tool for model providers, which refuse dots: two underscores follow the name space.
 * Recorded prompts are rebuilt with it, so it never changes.
 */
export function toolWireName(name: string): string {
  return name.includes('.') ? name.replaceAll('.', '__') : name;
}

/**
 * The name of the call that an action of the text protocol becomes when it cannot be read. No tool
 * has it. Recorded calls have it, so it never changes.
 */
export const unreadableAction = 'unreadable_action';

/** `errorType` of calls of tools that do not exist. */
export const unknownToolType = 'unknown_tool';
