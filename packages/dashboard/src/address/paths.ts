/** Pages that show one thing each, under its name. */
export type NamedPage = 'sessions' | 'approvals' | 'tasks' | 'triggers' | 'agents' | 'evals';

/** Returns the address of the page about one thing. */
export function pathOf(page: NamedPage, name: string): string {
  return `/${page}/${escaped(name)}`;
}

/** Returns a name as a part of an address. A half of a character, which has no bytes, is replaced. */
export function escaped(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}

/** Reads a name from a part of an address. A part that nobody has escaped is the name itself. */
export function nameOf(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
