import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitBlocks, tailOfBlock } from '../../../../src/tui/text/markdown/blocks.ts';
import { markdownLines } from '../../../../src/tui/text/markdown/markdown.ts';
import { textOfLine } from '../../../../src/tui/text/spans.ts';
import { markdownText } from './markdown-text.ts';

test('a block is closed when the first line of the next one is whole', () => {
  expect(splitBlocks('# Head\n\nSome')).toEqual({ closed: [], open: '# Head\n\nSome' });
  expect(splitBlocks('# Head\n\nSome\n')).toEqual({ closed: ['# Head\n\n'], open: 'Some\n' });
  expect(splitBlocks('- a\n\n- b\n\nend\n')).toEqual({ closed: ['- a\n\n- b\n\n'], open: 'end\n' });
  expect(splitBlocks('')).toEqual({ closed: [], open: '' });
});

test('a code is closed by its fence and the block behind it', () => {
  const code = '```js\na\n\nb\n```\n';
  expect(splitBlocks('```js\na\n\n# b\n')).toEqual({ closed: [], open: '```js\na\n\n# b\n' });
  expect(splitBlocks(`${code}then\n`)).toEqual({ closed: [code], open: 'then\n' });
});

test('the last lines of an open block are painted as in the whole block', () => {
  const shown = (text: string) => markdownLines(text, { width: 40 }).map(textOfLine);
  const lines = Array.from({ length: 50 }, (_, at) => `value ${at}`);
  const code = `\`\`\`js\n${lines.join('\n')}`;
  const table = ['| a | b |', '|---|---|', ...lines.map((line) => `| ${line} | x |`)].join('\n');
  const list = lines.map((line) => `- ${line}`).join('\n');
  for (const open of [code, table, list, lines.join('\n')]) {
    expect(shown(tailOfBlock(open, 10)).slice(-10)).toEqual(shown(open).slice(-10));
    expect(tailOfBlock(open, 10).split('\n').length).toBeLessThanOrEqual(12);
    expect(tailOfBlock(open, 60)).toBe(open);
  }
});

const oneKindOfBreaks = (text: string): string => text.replace(/\r\n?/g, '\n');

test('closed blocks of a prefix never change when more text comes', () => {
  fc.assert(
    fc.property(markdownText, fc.nat(), (text, seed) => {
      const whole = splitBlocks(text);
      const prefix = splitBlocks(text.slice(0, seed % (text.length + 1)));
      expect(whole.closed.slice(0, prefix.closed.length)).toEqual(prefix.closed);
      expect(oneKindOfBreaks(whole.closed.join('') + whole.open)).toBe(oneKindOfBreaks(text));
    }),
    { numRuns: 3_000 },
  );
});

test('a text that comes in pieces gives the blocks of the whole text', () => {
  fc.assert(
    fc.property(markdownText, fc.array(fc.nat(200), { maxLength: 6 }), (text, cuts) => {
      const places = [...cuts.filter((cut) => cut < text.length), text.length].sort(
        (a, b) => a - b,
      );
      const closed: string[] = [];
      let open = '';
      let at = 0;
      for (const place of places) {
        const blocks = splitBlocks(open + text.slice(at, place));
        closed.push(...blocks.closed);
        open = blocks.open;
        at = place;
      }
      expect([...closed, ...splitBlocks(open).closed]).toEqual(splitBlocks(text).closed);
    }),
    { numRuns: 2_000 },
  );
});
