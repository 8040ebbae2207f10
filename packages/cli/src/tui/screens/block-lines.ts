import { usageText } from '../feed/amounts.ts';
import type { Block, BlockContent } from '../feed/block.ts';
import type { Line } from '../text/spans.ts';
import { spansOf, splitLines } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { wrapLine } from '../text/wrap.ts';
import { callsLines } from './call-lines.ts';
import {
  accent,
  contentWidth,
  emptyGutter,
  fitted,
  gutterSign,
  lineSpans,
  proseWidth,
  type Space,
  spread,
  toned,
} from './layout.ts';
import { answerLines } from './prose.ts';

/** Lines of a value that are shown. */
const shownOfOutput = 5;

/** Returns the lines of a block, as they are printed. */
export function blockLines(block: Block, space: Space): Line[] {
  const lines = contentLines(block, space);
  return fitted(block.gap ? [[], ...lines] : lines, space);
}

function contentLines(block: BlockContent, space: Space): Line[] {
  switch (block.kind) {
    case 'user':
      return userLines(block, space);
    case 'agent':
      return [[...lineSpans(block.name, { bold: true }), { text: ' →', dim: true }]];
    case 'text':
      return answerLines(block.markdown, space);
    case 'output':
      return JSON.stringify(block.value, undefined, 2)
        .split('\n')
        .slice(0, shownOfOutput)
        .map((text, at) => [
          at === 0 ? gutterSign('arrow', {}, space) : emptyGutter,
          ...lineSpans(text),
        ]);
    case 'calls':
      return callsLines(block.calls, space);
    case 'note':
      return noteLines(block, space);
    case 'summary': {
      const { rounds, tokens, cost, durationMs } = block;
      const used = { rounds, tokens, cost: cost ?? 0, isCostUnknown: cost === undefined };
      return [[emptyGutter, { text: usageText(used, durationMs), dim: true }]];
    }
  }
}

/** The message of a person. Authors elsewhere are named. */
export function userLines(
  {
    text,
    by,
    files,
  }: { readonly text: string; readonly by?: string; readonly files?: readonly string[] },
  space: Space,
): Line[] {
  const author = by === undefined ? [] : [...lineSpans(`(${by}) `, { dim: true })];
  const shown = splitLines(spansOf(visible(text, 'prose').pieces));
  const attached = (files ?? []).map((file) => lineSpans(`[file ${file}]`, { dim: true }));
  const lines = [...shown, ...attached].flatMap((line) => wrapLine(line, proseWidth(space)));
  return lines.map((line, at) =>
    at === 0
      ? [gutterSign('user', { bold: true, color: accent }, space), ...author, ...line]
      : [emptyGutter, ...line],
  );
}

function noteLines(
  { sign, tone, text, isQuiet = false, seq }: Extract<BlockContent, { kind: 'note' }>,
  space: Space,
): Line[] {
  const look = isQuiet ? { dim: true } : {};
  const wrapped = wrapLine(lineSpans(text, look), Math.max(1, contentWidth(space) - 6));
  return wrapped.map((line, at) => {
    if (at > 0) return [emptyGutter, ...line];
    const left: Line = [gutterSign(sign, { ...look, ...toned(tone) }, space), ...line];
    return spread(left, { facts: [], seq }, space);
  });
}
