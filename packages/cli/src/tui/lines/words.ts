import { type Line, textOfLine } from '../text/spans.ts';

/** Words for the signs that lines begin with. */
const words: Readonly<Record<string, string>> = {
  '›': 'You: ',
  '✓': 'Done: ',
  '✗': 'Failed: ',
  '?': 'Question: ',
  '!': 'Attention: ',
  '■': 'Stopped: ',
  '↻': 'Again: ',
  '↳': 'Part: ',
  '·': 'Note: ',
  '→': 'Result: ',
  '│': 'Output: ',
  '○': 'Not begun: ',
  '┄': '',
};

const signed = /^( {2}(?=[│┄]))?([›✓✗?!■↻↳·→│○┄]) +/;

/** Returns a line as it is to be heard: words for signs, and commas for the room between facts. */
export function spoken(line: Line): string {
  const text = textOfLine(line);
  const found = signed.exec(text);
  // Answers stand behind the gutter as they were written; code may need its blanks.
  if (found === null && text.startsWith('  ')) return text.slice(2);
  const rest = found === null ? text : text.slice(found[0].length);
  const facts = rest.replaceAll(/ {2,}| · /g, ', ').replaceAll(/,? ┄$/g, '');
  return `${words[found?.[2] ?? ''] ?? ''}${facts}`;
}
