import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Diff, diffTexts } from '../../../src/tui/requests/diff.ts';
import { diffLines, diffSum, mostDiffLines } from '../../../src/tui/requests/diff-lines.ts';
import { diffOfEdit, editOf } from '../../../src/tui/requests/edit-request.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';
import { displayWidth } from '../../../src/tui/text/width.ts';

const shown = (diff: Diff, options: object = {}): string[] =>
  diffLines(diff, { width: 60, ...options }).map(textOfLine);

const file = [
  'import x;',
  '',
  'export function roundCents(value: number): number {',
  '  return Math.round(value * 100) / 100;',
  '}',
  ...Array.from({ length: 20 }, (_, at) => `line ${at}`),
]
  .map((line) => `${line}\n`)
  .join('');

test('an edit is shown with the numbers of its lines in the file', () => {
  const edit = editOf({
    path: 'src/money.ts',
    old_string: 'Math.round(value * 100) / 100',
    new_string: 'Math.floor(value * 100 + 0.5) / 100',
  });
  const diff = edit && diffOfEdit(edit, file);
  expect(edit?.path).toBe('src/money.ts');
  expect(shown(diff as Diff)).toEqual([
    '1   import x;',
    '2   ',
    '3   export function roundCents(value: number): number {',
    '4 -   return Math.round(value * 100) / 100;',
    '4 +   return Math.floor(value * 100 + 0.5) / 100;',
    '5   }',
    '6   line 0',
    '7   line 1',
  ]);
  expect(diffSum(diff as Diff)).toBe('+1 −1');
});

test('removed lines are red, added ones green; what is hidden in them is yellow', () => {
  const [removed, added] = diffLines(diffTexts('a\n', 'a\u202e\n'), { width: 60 });
  expect(removed).toEqual([
    { text: '1 ', dim: true },
    { text: '- ', color: 'red' },
    { text: 'a', color: 'red' },
  ]);
  expect(added?.at(-1)).toEqual({ text: '⟨U+202E⟩', color: 'yellow' });
});

test('hunks are parted, and lines are cut', () => {
  const after = file.replace('import x', 'import y').replace('line 19', 'l'.repeat(80));
  expect(shown(diffTexts(file, after), { width: 20 })).toEqual([
    ' 1 - import x;',
    ' 1 + import y;',
    ' 2   ',
    ' 3   export functio…',
    ' 4     return Math.…',
    '   ┄',
    '22   line 16',
    '23   line 17',
    '24   line 18',
    '25 - line 19',
    '25 + llllllllllllll…',
  ]);
});

test('a long diff says what was left out', () => {
  const lines = (from: number, count: number, sign: string): string =>
    Array.from({ length: count }, (_, at) => `${sign}${from + at}\n`).join('');
  const gap = lines(100, 10, 'same ');
  const before = lines(0, 15, 'a') + gap + lines(30, 2, 'b') + gap + lines(50, 2, 'c');
  const after = lines(0, 15, 'A') + gap + lines(30, 2, 'B') + gap + lines(50, 2, 'C');
  const cut = shown(diffTexts(before, after), { most: mostDiffLines });
  expect(cut.length).toBeLessThanOrEqual(mostDiffLines + 1);
  expect(cut.at(-1)).toBe('… 2 more hunks');
  const long = diffTexts(`${lines(0, 30, 'a')}${gap}b\n`, `${lines(0, 30, 'A')}${gap}B\n`);
  const begin = shown(long, { most: mostDiffLines });
  expect(begin.length).toBe(mostDiffLines + 1);
  expect(begin.at(-1)).toBe('… 23 more lines, 1 more hunk');
});

test('a line break at the end of a text, and ends of lines of another system, are seen', () => {
  expect(shown(diffTexts('a', 'a\n'))).toEqual(['1 - a (no line break)', '1 + a']);
  expect(shown(diffTexts('a\r\nb\r\n', 'a\nb\n'))).toEqual([]);
  expect(shown(diffTexts('a\nb\n', 'a\r\nb\n'))).toEqual(['1 - a', '1 + a␍', '2   b']);
});

test('arguments of the usual names describe an edit, others none', () => {
  expect(editOf({ file: 'a', content: 'x' })).toEqual({
    path: 'a',
    old: undefined,
    new: 'x',
    isEverywhere: false,
  });
  expect(editOf({ file_path: 'a', old: 'x', new: '', replace_all: true })).toMatchObject({
    old: 'x',
    new: '',
    isEverywhere: true,
  });
  for (const args of [
    null,
    'x',
    [],
    {},
    { path: 'a' },
    { old: 'a', new: 'b' },
    { path: 1, content: 'x' },
  ])
    expect(editOf(args)).toBeUndefined();
});

test('an edit of a file that is not there, or has other text, shows what it says', () => {
  const edit = { path: 'a', old: 'x\n', new: 'y\n', isEverywhere: false };
  expect(shown(diffOfEdit(edit, undefined))).toEqual(['1 - x', '1 + y']);
  expect(shown(diffOfEdit(edit, 'other'))).toEqual(['1 - x', '1 + y']);
  expect(shown(diffOfEdit({ ...edit, old: undefined }, undefined))).toEqual(['1 + y']);
  expect(shown(diffOfEdit({ ...edit, isEverywhere: true, old: 'x', new: '$&' }, 'x x\n'))).toEqual([
    '1 - x x',
    '1 + $& $&',
  ]);
});

const texts = fc
  .array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 12 })
  .map((lines) => lines.join('\n'));

/** Length of the longest list of lines that two texts have in common, in their order. */
function commonLines(before: readonly string[], after: readonly string[]): number {
  let row: number[] = [0, ...after.map(() => 0)];
  for (const line of before) {
    const next = [0];
    for (const [at, other] of after.entries())
      next.push(line === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}

test('a diff leads from one text to the other, by the fewest lines', () => {
  const linesOf = (text: string) => (text === '' ? [] : text.split(/(?<=\n)/));
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const { hunks, added, removed } = diffTexts(before, after, 100);
      const lines = hunks.flatMap((hunk) => hunk.lines);
      const without = (kind: string, like: string) =>
        lines.flatMap((line) => (line.kind === kind ? [] : [line.text])).join('\n') +
        (like.endsWith('\n') ? '\n' : '');
      if (before === after) expect(lines).toEqual([]);
      else expect([without('added', before), without('removed', after)]).toEqual([before, after]);
      const common = commonLines(linesOf(before), linesOf(after));
      expect(added + removed).toBe(linesOf(before).length + linesOf(after).length - 2 * common);
      const numbers = lines.flatMap(({ after: number }) => number ?? []);
      expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    }),
    { numRuns: 500 },
  );
});

test('no line of a diff is too wide', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 4, max: 50 }),
      (a, b, width) => {
        for (const line of diffLines(diffTexts(a, b), { width }))
          expect(displayWidth(textOfLine(line))).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 100 },
  );
});

test('texts that differ everywhere are shown as replaced, in a moment', () => {
  const many = (sign: string) =>
    Array.from({ length: 5_000 }, (_, at) => `${sign}${at}\n`).join('');
  expect(diffTexts(many('a'), many('b'))).toMatchObject({ added: 5_000, removed: 5_000 });
});
