import type { JsonValue } from '../base/json.ts';
import type { Difference, Divergence } from './divergence.ts';

/** Number of differences that are shown. All are in the divergence itself. */
const mostShown = 12;
const longestValue = 2_000;
/** Number of lines of a text that are shown of each side. */
const mostLines = 20;

/**
 * Formats a divergence as a readable diff: recorded values with `-`, values of now with `+`. Texts
 * are compared line by line, and long values are cut. Control characters are written as their
 * codes, so that the text cannot act on a terminal.
 */
export function divergenceText({
  seq,
  path,
  kind,
  subject,
  recorded,
  replayed,
  differences,
}: Divergence): string {
  const head = [
    `First divergence at event ${seq}${path === '' ? '' : ` (${oneLine(path)})`}: ` +
      `${kind.replace('_', ' ')}`,
    `  ${oneLine(subject)}.`,
  ];
  if (differences.length === 0) return [...head, ...sides('', recorded, replayed)].join('\n');
  const shown = differences
    .slice(0, mostShown)
    .flatMap((difference) => differenceLines(difference));
  const left = differences.length - mostShown;
  return [...head, ...shown, ...(left > 0 ? [`  … and ${left} more`] : [])].join('\n');
}

function differenceLines({ path, recorded, replayed }: Difference): readonly string[] {
  const title = path === '' ? [] : [`  ${oneLine(path)}`];
  if (
    typeof recorded === 'string' &&
    typeof replayed === 'string' &&
    (recorded.includes('\n') || replayed.includes('\n'))
  )
    return [...title, ...textLines(recorded.split('\n'), replayed.split('\n'))];
  return [...title, ...sides('  ', recorded, replayed)];
}

function sides(
  indent: string,
  recorded: JsonValue | undefined,
  replayed: JsonValue | undefined,
): readonly string[] {
  return [
    ...(recorded === undefined ? [] : [`${indent}  - ${shown(recorded)}`]),
    ...(replayed === undefined ? [] : [`${indent}  + ${shown(replayed)}`]),
  ];
}

/** Formats the lines of two texts that differ, without their common beginning and end. */
function textLines(before: readonly string[], now: readonly string[]): readonly string[] {
  let first = 0;
  while (first < before.length && first < now.length && before[first] === now[first]) first++;
  let last = 0;
  while (
    last < before.length - first &&
    last < now.length - first &&
    before.at(-1 - last) === now.at(-1 - last)
  )
    last++;
  const signed = (sign: string, lines: readonly string[]): string[] => {
    const left = lines.length - mostLines;
    const rest = left > 0 ? [`      … and ${left} more line${left === 1 ? '' : 's'}`] : [];
    return [...lines.slice(0, mostLines).map((line) => `    ${sign} ${shown(line)}`), ...rest];
  };
  const skipped = first === 0 ? [] : [`      (${first} line${first === 1 ? '' : 's'} before)`];
  return [
    ...skipped,
    ...signed('-', before.slice(first, before.length - last)),
    ...signed('+', now.slice(first, now.length - last)),
  ];
}

/** Control characters, line separators, and characters that change the direction of writing. */
const obeyed = /\p{Cc}|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

function harmless(text: string): string {
  return text.replace(
    obeyed,
    (symbol) => `\\u${symbol.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function oneLine(text: string): string {
  return harmless(text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`);
}

function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return harmless(
    text.length <= longestValue
      ? text
      : `${text.slice(0, longestValue)}… (${text.length} characters)`,
  );
}
