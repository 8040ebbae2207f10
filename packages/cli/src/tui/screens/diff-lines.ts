import type { JsonObject, JsonValue } from 'adjutant';
import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { visibleString } from '../text/visible.ts';
import { cutText } from '../text/wrap.ts';
import { contentWidth, type Space } from './layout.ts';

/** A text that replaces another one. */
export interface TextChange {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Names under which tools take the text to replace, and the new one. */
const names: readonly (readonly [before: string, after: string])[] = [
  ['oldText', 'newText'],
  ['old_text', 'new_text'],
  ['oldString', 'newString'],
  ['old_string', 'new_string'],
];
/** Unchanged lines around a change. */
const context = 2;

/** Returns the change of a text that the arguments of a call describe. `undefined`: none. */
export function diffOf(args: JsonValue): TextChange | undefined {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return undefined;
  for (const [before, after] of names) {
    const { [before]: from, [after]: to } = args as JsonObject;
    if (typeof from === 'string' && typeof to === 'string')
      return { before: from.split('\n'), after: to.split('\n') };
  }
  return undefined;
}

interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Lines that were taken away, and that came, between those that both texts begin and end with. */
function difference({ before, after }: TextChange): readonly DiffLine[] {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start++;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const part = (lines: readonly string[], mark: DiffLine['sign']): DiffLine[] =>
    lines.map((text) => ({ sign: mark, text }));
  return [
    ...part(before.slice(Math.max(0, start - context), start), ' '),
    ...part(before.slice(start, before.length - end), '-'),
    ...part(after.slice(start, after.length - end), '+'),
    ...part(before.slice(before.length - end, before.length - end + context), ' '),
  ];
}

/** Returns the numbers of lines that a change adds and takes away: `+1 −1`. */
export function changeText(change: TextChange, ascii: boolean): string {
  const lines = difference(change);
  const count = (mark: string): number => lines.filter((line) => line.sign === mark).length;
  return `+${count('+')} ${sign('minus', ascii)}${count('-')}`;
}

/** Returns the lines of a change: taken away in red, added in green, each with its sign. */
export function diffLines(change: TextChange, space: Space): Line[] {
  const width = contentWidth(space) - 2;
  return difference(change).map(({ sign: mark, text }) => {
    const shown = cutText(visibleString(text, 'requestLine'), width, sign('ellipsis', space.ascii));
    const line = `  ${mark} ${shown}`;
    if (mark === ' ') return [{ text: line, dim: true }];
    return [{ text: line, color: mark === '-' ? ('red' as const) : ('green' as const) }];
  });
}
