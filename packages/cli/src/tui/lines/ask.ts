/** Says lines, and returns what a person answers to them. `undefined`: nobody answers any more. */
export type Ask = (...lines: readonly string[]) => Promise<string | undefined>;

/** Text of a choice by number. */
export function numbered(choices: readonly string[]): string[] {
  return choices.map((words, at) => `${at + 1}: ${words}`);
}

/** Returns the place of the choice that a line names by its number. `undefined`: it names none. */
export function chosen(line: string, count: number): number | undefined {
  const text = line.trim();
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= count ? number - 1 : undefined;
}
