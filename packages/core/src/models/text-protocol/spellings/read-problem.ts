/** Reason for which a text cannot be read as a call, and its place. For the model. */
export class ReadProblem extends Error {}

/** @throws ReadProblem about the text at `at` */
export function refuseAt(text: string, at: number, reason: string): never {
  throw new ReadProblem(`${reason} ${placeOf(text, at)}`);
}

const shownCharacters = 30;

function placeOf(text: string, at: number): string {
  if (at >= text.length) return 'at its end';
  const rest = text.slice(at, at + shownCharacters).replaceAll(/\s+/g, ' ');
  return `at character ${at + 1}: ${rest}${text.length > at + shownCharacters ? '…' : ''}`;
}

/** The value of a reader, or the message of its `ReadProblem`. */
export type Reading<Value> = { readonly value: Value } | { readonly problem: string };

export function reading<Value>(read: () => Value): Reading<Value> {
  try {
    return { value: read() };
  } catch (thrown) {
    if (thrown instanceof ReadProblem) return { problem: thrown.message };
    throw thrown;
  }
}
