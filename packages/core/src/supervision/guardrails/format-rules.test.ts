import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FormatRulesOptions, formatRules } from './format-rules.ts';
import { hostileTexts } from './hostile-texts.fixture.ts';

/** Returns an answer after the rules. */
function formatted(text: string, options: FormatRulesOptions): string {
  const verdict = formatRules(options).output?.({ agent: 'a', round: 1, text, tools: [] });
  if (verdict === undefined) return text;
  return verdict.action === 'transform' ? String(verdict.value) : verdict.action;
}

describe('markdown: false', () => {
  test.each([
    ['# Title\n\nText', 'Title\n\nText'],
    ['This is **very** *important*, ***really***.', 'This is very important, really.'],
    ['_so_ and __so__', 'so and so'],
    ['~~gone~~', 'gone'],
    ['Call `npm ci` now', 'Call npm ci now'],
    ['```ts\nconst a = 1;\n```', 'const a = 1;'],
    ['- one\n- two\n  * three', 'one\ntwo\n  three'],
    ['1. first\n2) second', 'first\nsecond'],
    ['> quoted\n> > twice', 'quoted\ntwice'],
    ['See [the page](https://example.com/x) and ![a cat](cat.png).', 'See the page and a cat.'],
    ['Above\n\n---\n\nBelow', 'Above\n\n\nBelow'],
    ['| a | b |\n|---|---|\n| 1 | 2 |', 'a, b\n1, 2'],
  ])('%j becomes %j', (text, expected) => {
    expect(formatted(text, { markdown: false })).toBe(expected);
  });

  test.each([
    'Plain text.',
    '2 * 3 * 4 = 24',
    'snake_case_name and a__b__c',
    'a < b > c',
    'Costs 5 - 7 euros',
    'C# and #1',
    'x ~ y',
    'a | b',
  ])('%j stays', (text) => {
    expect(formatted(text, { markdown: false })).toBe(text);
  });
});

describe('emoji: false', () => {
  test.each([
    ['Hello 👋 there 😀!', 'Hello there!'],
    ['👍 Done', 'Done'],
    ['Family: 👨‍👩‍👧‍👦.', 'Family:.'],
    ['Thumbs 👍🏽 up ❤️', 'Thumbs up'],
    ['Made in 🇩🇪 1️⃣', 'Made in'],
  ])('%j becomes %j', (text, expected) => {
    expect(formatted(text, { emoji: false })).toBe(expected);
  });

  test.each(['No. 1 © 2026 ™ → ok', '日本語 עברית', 'a\u200Db'])('%j stays', (text) => {
    expect(formatted(text, { emoji: false })).toBe(text);
  });

  test('an answer of nothing else is better than none', () => {
    expect(formatted('👍', { emoji: false })).toBe('👍');
  });
});

describe('maxSentences', () => {
  test.each([
    ['One. Two! Three?', 2, 'One. Two!'],
    ['One. Two.', 2, 'One. Two.'],
    ['Only one', 1, 'Only one'],
    ['Pi is 3.14 and so on. Next.', 1, 'Pi is 3.14 and so on.'],
    ['一。二。三。', 2, '一。二。'],
    ['Wait ... Then go. Stop.', 3, 'Wait ... Then go. Stop.'],
  ])('%j cut after %i is %j', (text, maxSentences, expected) => {
    expect(formatted(text, { maxSentences })).toBe(expected);
  });
});

test('all rules together, and their reason', () => {
  const verdict = formatRules({ markdown: false, emoji: false, maxSentences: 1 }).output?.({
    agent: 'a',
    round: 1,
    text: '**Hi** 😀! More.',
    tools: [],
  });
  expect(verdict).toEqual({
    action: 'transform',
    value: 'Hi!',
    reasoning: 'Taken out of the answer: Markdown, emoji, what follows 1 sentences.',
  });
});

test('without a rule everything stays', () => {
  expect(formatted('**Hi** 😀', {})).toBe('**Hi** 😀');
  expect(formatted('**Hi** 😀', { markdown: true, emoji: true })).toBe('**Hi** 😀');
});

test('what is plain stays as it is, whatever it says', () => {
  const plain = fc
    .stringMatching(/^[A-Za-z][A-Za-z0-9 ,.?!:;'"()]{0,200}$/)
    .filter((text) => text === text.trim());
  fc.assert(
    fc.property(plain, (text) => {
      expect(formatted(text, { markdown: false, emoji: false })).toBe(text);
    }),
  );
});

test.each([{ markdown: 'strip' }, { maxSentences: 0 }, { maxSentence: 1 }])(
  '%j is refused',
  (options) => {
    expect(() => formatRules(options as FormatRulesOptions)).toThrow(
      'formatRules() cannot be set up',
    );
  },
);

test.each(
  hostileTexts([
    '*',
    '* ',
    '**a',
    '*a*b',
    '_',
    '_a',
    '`',
    '[',
    '[a',
    '[a](',
    '![',
    '> ',
    '- ',
    '~~',
    '|',
    '| ',
    '#',
    '1. ',
    '😀',
    '👩\u200D',
    '-----',
  ]),
)('a long text of %s takes no longer than others', (_name, text) => {
  formatted(text, { markdown: false, emoji: false, maxSentences: 5 });
  formatted(`${text}x`, { markdown: false, emoji: false });
});
