import { lexTokens } from './lex.ts';

/** Parts of a text that streams in. */
export interface Blocks {
  /** Blocks that further text does not change, each with the empty lines behind it. */
  readonly closed: readonly string[];
  /** Text of the block that may still grow. */
  readonly open: string;
}

/** All whole lines of a text: a `\r` at its end may be the half of a line break. */
const wholeLines = /^[\s\S]*(?:\n|\r(?=[^\n]))/;

/**
 * Parts a streaming Markdown text. A block is closed when the first line of the next one is whole.
 * The next call needs only the open part with the text that came meanwhile.
 */
export function splitBlocks(text: string): Blocks {
  const [lines = ''] = wholeLines.exec(text) ?? [];
  const source = lines.replace(/\r\n?/g, '\n');
  const closed: string[] = [];
  let block = '';
  let hasBegun = false;
  let at = 0;
  for (const { type, raw } of lexTokens(source) ?? []) {
    // The lexer leaves out a few lines, such as a definition that is given twice.
    if (!source.startsWith(raw, at)) break;
    if (hasBegun && type !== 'space') {
      closed.push(block);
      block = '';
    }
    hasBegun ||= type !== 'space';
    block += raw;
    at += raw.length;
  }
  const taken = closed.reduce((length, each) => length + each.length, 0);
  return { closed, open: source.slice(taken) + text.slice(lines.length) };
}

/**
 * Returns a shorter text whose lines are the last ones of an open block, so that painting it costs
 * the same however long it is. The fence of a code and the head of a table are kept.
 */
export function tailOfBlock(open: string, lines: number): string {
  const all = open.split('\n');
  const fence = /^ {0,3}(?:`{3,}|~{3,})/.test(all[0] ?? '');
  const isTable = all[1]?.includes('|') === true && /^[ |:-]+$/.test(all[1]);
  const head = fence ? 1 : isTable ? 2 : 0;
  if (all.length <= head + lines) return open;
  return [...all.slice(0, head), ...all.slice(-lines)].join('\n');
}
