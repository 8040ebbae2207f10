import type { JsonObject, JsonValue } from 'adjutant';
import { type Diff, diffTexts } from '../requests/diff.ts';
import { diffLines } from '../requests/diff-lines.ts';
import type { Line } from '../text/spans.ts';
import { contentWidth, emptyGutter, type Space } from './layout.ts';

/** Names under which tools take the text to replace, and the new one. */
const names: readonly (readonly [before: string, after: string])[] = [
  ['oldText', 'newText'],
  ['old_text', 'new_text'],
  ['oldString', 'newString'],
  ['old_string', 'new_string'],
];
/** Lines of a change that are shown. */
const longest = 40;

/** Returns the change of a text that the arguments of a call describe. `undefined`: none. */
export function diffOf(args: JsonValue): Diff | undefined {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return undefined;
  for (const [before, after] of names) {
    const { [before]: from, [after]: to } = args as JsonObject;
    if (typeof from === 'string' && typeof to === 'string') return diffTexts(from, to);
  }
  return undefined;
}

/** Returns the lines of a change, behind the gutter. */
export function changedLines(diff: Diff, space: Space, most = longest): Line[] {
  const options = { width: contentWidth(space), ascii: space.ascii, most };
  return diffLines(diff, options).map((line) => [emptyGutter, ...line]);
}
