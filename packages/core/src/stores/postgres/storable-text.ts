/**
 * The characters that PostgreSQL cannot store as text, zero bytes and halves of surrogate pairs,
 * and the sign that replaces them.
 */
const unstorable = /[\0\\]|\p{Surrogate}/u;
const everyUnstorable = /[\0\\]|\p{Surrogate}/gu;
const everyReplaced = /\\([0-9a-f]{4})/g;

/**
 * Returns a text as it is stored: a few characters are written as `\` and four hexadecimal digits.
 */
export function toStorable(text: string): string {
  if (!unstorable.test(text)) return text;
  return text.replace(
    everyUnstorable,
    (character) => `\\${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function fromStorable(stored: string): string {
  if (!stored.includes('\\')) return stored;
  return stored.replace(everyReplaced, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Returns a text as it is stored; `undefined` becomes the `null` of the database. */
export function toStorableOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toStorable(text);
}
