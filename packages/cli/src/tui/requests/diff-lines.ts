import { formatCount } from '../../output/format.ts';
import { sign } from '../text/signs.ts';
import { type Line, type Span, spansOf } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { cutLine } from '../text/wrap.ts';
import type { Diff, DiffLine, Hunk } from './diff.ts';

export interface DiffLinesOptions {
  readonly width: number;
  /** Number of lines that are shown at most; without it all are. */
  readonly most?: number;
  readonly ascii?: boolean;
}

/** Lines that are shown of the diff of a settled call. */
export const mostDiffLines = 40;

const marks = { same: ' ', removed: '-', added: '+' } as const;
const colors = { same: {}, removed: { color: 'red' }, added: { color: 'green' } } as const;

/**
 * Returns a diff with the numbers of its lines, those of the former text for removed lines. Lines
 * are cut at the width; the notice of what was left out stands last.
 */
export function diffLines(diff: Diff, options: DiffLinesOptions): Line[] {
  const { most = Number.POSITIVE_INFINITY, ascii = false } = options;
  const numbers = diff.hunks.flatMap(({ lines }) => lines.map(numberOf));
  const digits = String(numbers.reduce((largest, each) => Math.max(largest, each), 0)).length;
  const shown: Line[] = [];
  let at = 0;
  for (; at < diff.hunks.length; at++) {
    const { lines } = diff.hunks[at] as Hunk;
    const parting = at === 0 ? 0 : 1;
    if (at > 0 && shown.length + parting + lines.length > most) break;
    if (parting === 1)
      shown.push([{ text: `${' '.repeat(digits)} ${sign('earlier', ascii)}`, dim: true }]);
    shown.push(...lines.slice(0, most).map((line) => paintedLine(line, digits)));
    if (lines.length > most) {
      const rest = formatCount(lines.length - most, 'more line');
      shown.push(notice(andHunks(rest, diff.hunks.length - at - 1), ascii));
      return cut(shown, options);
    }
  }
  const left = diff.hunks.length - at;
  if (left > 0) shown.push(notice(formatCount(left, 'more hunk'), ascii));
  return cut(shown, options);
}

/** Returns the sum of a diff: `+1 −1`. */
export function diffSum({ added, removed }: Diff, ascii = false): string {
  return `+${added} ${sign('minus', ascii)}${removed}`;
}

function andHunks(lines: string, hunks: number): string {
  return hunks === 0 ? lines : `${lines}, ${formatCount(hunks, 'more hunk')}`;
}

function notice(text: string, ascii: boolean): Line {
  return [{ text: `${sign('ellipsis', ascii)} ${text}`, dim: true }];
}

function numberOf({ kind, before = 0, after = 0 }: DiffLine): number {
  return kind === 'removed' ? before : after;
}

function paintedLine(line: DiffLine, digits: number): Line {
  const look = colors[line.kind];
  const text: Span[] = spansOf(visible(line.text, 'request').pieces, look);
  const end = line.isUnended === true ? [{ text: ' (no line break)', dim: true }] : [];
  const number = { text: `${String(numberOf(line)).padStart(digits)} `, dim: true };
  return [number, { ...look, text: `${marks[line.kind]} ` }, ...text, ...end];
}

function cut(lines: readonly Line[], { width, ascii }: DiffLinesOptions): Line[] {
  return lines.map((line) => cutLine(line, width, sign('ellipsis', ascii)));
}
