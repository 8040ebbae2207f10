import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markdownLines } from '../../../../src/tui/text/markdown/markdown.ts';
import { type Line, textOfLine } from '../../../../src/tui/text/spans.ts';
import { displayWidth } from '../../../../src/tui/text/width.ts';
import { markdownText } from './markdown-text.ts';

/** The lines as a person reads them. */
function shown(text: string, width = 40, options: object = {}): string[] {
  return markdownLines(text, { width, ...options }).map(textOfLine);
}

/** The spans of a text with a look, as `look: text`. */
function looks(lines: readonly Line[]): string[] {
  return lines.flat().flatMap(({ text, ...look }) => {
    const words = Object.entries(look).map(([name, value]) => (value === true ? name : value));
    return words.length === 0 || text.trim() === '' ? [] : [`${words.join(' ')}: ${text}`];
  });
}

test('prose is wrapped at words; its looks stay', () => {
  const text = '# A *head*\n\nSome **bold words** and `code`, ~~no~~ *more*.\nA second line.';
  expect(shown(text, 24)).toEqual([
    'A head',
    '',
    'Some bold words and',
    'code, no more.',
    'A second line.',
  ]);
  expect(looks(markdownLines(text, { width: 24 }))).toEqual([
    'bold: A ',
    'bold italic: head',
    'bold: bold words',
    'cyan: code',
    'strike: no',
    'italic: more',
  ]);
});

test('prose takes at most 100 columns', () => {
  const widths = shown('word '.repeat(60), 200).map(displayWidth);
  expect(Math.max(...widths)).toBe(99);
});

test('lists have signs and hanging lines', () => {
  expect(
    shown('- one two three\n- [x] done\n  - inner\n\n9. nine\n10. ten\n\n    more', 13),
  ).toEqual([
    '• one two',
    '  three',
    '• [x] done',
    '      • inner',
    '',
    ' 9. nine',
    '10. ten',
    '    more',
  ]);
  expect(shown('- a\n\n---', 12, { ascii: true })).toEqual(['* a', '', '---']);
});

test('code is highlighted by four looks, and cut instead of wrapped', () => {
  const code = '```ts\nconst a = "x"; // why\nreturn 12 + veryLongNameOfAFunction()\n\tb\n```';
  const lines = markdownLines(code, { width: 26 });
  expect(lines.map(textOfLine)).toEqual([
    '│ const a = "x"; // why',
    '│ return 12 + veryLongNam…',
    '│     b',
  ]);
  expect(looks(lines).filter((look) => !look.endsWith('│ '))).toEqual([
    'blue: const',
    'green: "x"',
    'dim: // why',
    'blue: return',
    'cyan: 12',
  ]);
});

test.each([
  ['python', '# no\nx = """a\nb"""', ['dim: # no', 'green: """a', 'green: b"""']],
  ['sql', 'SELECT 1 -- one', ['blue: SELECT', 'cyan: 1', 'dim: -- one']],
  ['json', '{"a": true}', ['green: "a"', 'cyan: true']],
  ['html', '<p class="a"><!-- x', ['blue: p', 'green: "a"', 'dim: <!-- x']],
  ['diff', ' a\n-b\n+c', ['red: -b', 'green: +c']],
  ['', 'const a', []],
])('code in %s', (language, code, expected) => {
  const lines = markdownLines(`\`\`\`${language}\n${code}\n\`\`\``, { width: 40 });
  expect(looks(lines).filter((look) => !look.endsWith('│ '))).toEqual(expected);
});

test('a table is in columns, or a list when it is too wide', () => {
  const table = '| name | count |\n|---|--:|\n| `a` | 1 |\n| longer | 12,345 |';
  expect(shown(table, 40)).toEqual(['name     count', 'a            1', 'longer  12,345']);
  expect(shown(table, 12)).toEqual([
    'name: a',
    'count: 1',
    '',
    'name: longer',
    'count:',
    '  12,345',
  ]);
});

test('quotes, pictures, HTML and character references are text', () => {
  expect(
    shown('> a\n>\n> b\n\n![a cat](cat.png) ![](x.png)\n\n<b>x</b> &lt;i&gt; &#65;&copy;'),
  ).toEqual(['> a', '> ', '> b', '', '[image: a cat] [image]', '', '<b>x</b> <i> A©']);
});

test('a link shows its target, unless the terminal opens links', () => {
  const link = 'see [the page](https://example.com/a)';
  expect(shown(link, 60)).toEqual(['see the page (https://example.com/a)']);
  const lines = markdownLines(link, { width: 60, links: true });
  expect(lines.map(textOfLine)).toEqual(['see the page']);
  expect(lines[0]?.[1]).toEqual({
    text: 'the page',
    underline: true,
    link: 'https://example.com/a',
  });
});

test('a label that is another address never hides the target', () => {
  for (const links of [true, false]) {
    const other = (text: string) => shown(text, 90, { links })[0];
    expect(other('[google.com](http://evil.example/)')).toBe('google.com (http://evil.example/)');
    expect(other('[https://a.com/x](https://a.com/y)')).toBe('https://a.com/x (https://a.com/y)');
    expect(other('[“bank.com”](http://evil.example/)')).toBe('“bank.com” (http://evil.example/)');
    expect(other('[ada@a.com](mailto:bob@b.com)')).toBe('ada@a.com (mailto:bob@b.com)');
    expect(other('<https://a.com/x> and www.b.com')).toBe('https://a.com/x and www.b.com');
  }
});

test('hosts of several writings are shown in Punycode, others in their letters', () => {
  const target = (host: string) => shown(`[x](https://${host}/)`, 60)[0];
  expect(target('аpple.com')).toBe('x (https://xn--pple-43d.com/)');
  expect(target('bücher.de')).toBe('x (https://bücher.de/)');
  const label = shown('[https://аpple.com](https://аpple.com)', 60, { links: true });
  expect(label).toEqual(['https://аpple.com (https://xn--pple-43d.com/)']);
});

test('other schemes are shown and never opened; files of the project may be', () => {
  const options = { width: 60, links: true };
  const script = markdownLines('[x](javascript:alert(1)) [y](file:///etc/passwd)', options);
  expect(script.map(textOfLine)).toEqual(['x (javascript:alert(1)) y (file:///etc/passwd)']);
  expect(script.flat().some(({ link }) => link !== undefined)).toBe(false);
  const fileUrl = (target: string) => (target === 'src/a.ts:12' ? 'file:///p/src/a.ts' : undefined);
  const file = markdownLines('[here](src/a.ts:12) [there](../b.ts:1)', { ...options, fileUrl });
  expect(file.map(textOfLine)).toEqual(['here there (../b.ts:1)']);
  expect(file[0]?.[0]).toEqual({ text: 'here', underline: true, link: 'file:///p/src/a.ts' });
});

test('hostile characters are written out, also those that references name', () => {
  expect(shown('a\x1b[31m &#27;[2J &#x202e; `\x07` [\x9b](http://a.com/&#27;x)', 80)).toEqual([
    'a␛[31m ␛[2J ⟨U+202E⟩ ␇ ⟨U+009B⟩ (http://a.com/%1Bx)',
  ]);
});

test('a text that is nested too deeply is shown as it is', () => {
  expect(shown('>'.repeat(20_000), 40)[0]).toBe('>'.repeat(40));
});

test('whatever the text: no line is too wide, nothing is obeyed, only addresses are linked', () => {
  fc.assert(
    fc.property(markdownText, fc.integer({ min: 4, max: 60 }), (text, width) => {
      const lines = markdownLines(text, { width, links: true });
      for (const line of lines) {
        expect(displayWidth(textOfLine(line))).toBeLessThanOrEqual(width);
        expect(textOfLine(line)).not.toMatch(/\p{Cc}|[\u202e\u200b]/u);
        for (const { link } of line)
          if (link !== undefined) expect(link).toMatch(/^(?:https?:|mailto:)[!-~]+$/);
      }
    }),
    { numRuns: 500 },
  );
});
