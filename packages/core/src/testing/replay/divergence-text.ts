import type { JsonValue } from '../../base/json.ts';
import type { Difference, Divergence } from './divergence.ts';

/** Differences that are shown; whoever wants all has the divergence itself. */
const mostShown = 12;
const longestValue = 2_000;

/**
 * A divergence as a diff that people can read: what was recorded with `-`, what comes now with `+`. Values are JSON, so that nothing in them can act on a
 * terminal; long texts are compared line by line.
 */
export function divergenceText({ seq, path, kind, subject, recorded, replayed, differences }: Divergence): string {
  const head = [`First divergence at event ${seq}${path === '' ? '' : ` (${path})`}: ${kind.replace('_', ' ')}`, `  ${subject}.`];
  if (differences.length === 0) return [...head, ...sides('', recorded, replayed)].join('\n');
  const shown = differences.slice(0, mostShown).flatMap((difference) => differenceLines(difference));
  const left = differences.length - mostShown;
  return [...head, ...shown, ...(left > 0 ? [`  … and ${left} more`] : [])].join('\n');
}

function differenceLines({ path, recorded, replayed }: Difference): readonly string[] {
  const title = path === '' ? [] : [`  ${path}`];
  if (typeof recorded === 'string' && typeof replayed === 'string' && (recorded.includes('\n') || replayed.includes('\n')))
    return [...title, ...textLines(recorded.split('\n'), replayed.split('\n'))];
  return [...title, ...sides('  ', recorded, replayed)];
}

function sides(indent: string, recorded: JsonValue | undefined, replayed: JsonValue | undefined): readonly string[] {
  return [
    ...(recorded === undefined ? [] : [`${indent}  - ${shortened(JSON.stringify(recorded))}`]),
    ...(replayed === undefined ? [] : [`${indent}  + ${shortened(JSON.stringify(replayed))}`]),
  ];
}

/** Lines of two texts that differ, between the lines that they begin and end with together. */
function textLines(before: readonly string[], now: readonly string[]): readonly string[] {
  let first = 0;
  while (first < before.length && first < now.length && before[first] === now[first]) first++;
  let last = 0;
  while (last < before.length - first && last < now.length - first && before.at(-1 - last) === now.at(-1 - last)) last++;
  const shown = (sign: string, lines: readonly string[]): string[] => lines.map((line) => `    ${sign} ${shortened(JSON.stringify(line))}`);
  const skipped = first === 0 ? [] : [`      (${first} line${first === 1 ? '' : 's'} before)`];
  return [...skipped, ...shown('-', before.slice(first, before.length - last)), ...shown('+', now.slice(first, now.length - last))];
}

function shortened(text: string): string {
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}… (${text.length} characters)`;
}
