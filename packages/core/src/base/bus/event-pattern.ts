import { InvalidOptionError } from '../invalid-option.ts';
import { describeValue } from '../options.ts';

/** Most UTF-16 units of a type or a pattern. */
const longestType = 200;
const oneName = String.raw`[^\s.*\p{C}]+`;
const type = new RegExp(`^${oneName}(?:\\.${oneName})*$`, 'u');
const onePart = String.raw`(?:\*\*?|${oneName})`;
const patternText = new RegExp(`^${onePart}(?:\\.${onePart})*$`, 'u');

/** True for a type of events: names with full stops between them, without `*` and blanks. */
export function isEventType(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestType && type.test(value);
}

/** A pattern of types, read. */
export type TypePattern = readonly string[];

/** @throws InvalidOptionError */
export function readPattern(value: unknown): TypePattern {
  if (typeof value === 'string' && value.length <= longestType && patternText.test(value))
    return value.split('.');
  throw new InvalidOptionError({
    function: 'subscribe',
    reason:
      'the pattern must be names with full stops between them, where `*` stands for one name ' +
      `and \`**\` for any number of them, such as 'mail.*', not ${describeValue(value)}`,
  });
}

/** True when a pattern has the type. Takes steps by the product of both lengths at most. */
export function hasType(pattern: TypePattern, eventType: string): boolean {
  const names = eventType.split('.');
  let [place, at] = [0, 0];
  /** Place of the last `**`, and the name up to which it stands for names. */
  let [lastStars, skipped] = [-1, 0];
  while (at < names.length) {
    const part = pattern[place];
    if (part === '**') {
      [lastStars, skipped] = [place, at];
      place++;
    } else if (part === '*' || part === names[at]) {
      place++;
      at++;
    } else if (lastStars >= 0) {
      // It stands for one name more.
      skipped++;
      [place, at] = [lastStars + 1, skipped];
    } else return false;
  }
  while (pattern[place] === '**') place++;
  return place === pattern.length;
}
