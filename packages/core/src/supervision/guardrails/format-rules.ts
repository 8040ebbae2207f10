import { checkOptions } from '../../base/invalid-option.ts';
import { isCount, isFlag, type OptionChecks } from '../../base/options.ts';
import type { Guardrail, OutputCheck } from '../guardrail.ts';

export interface FormatRulesOptions {
  /** `false`: the marks of Markdown are taken out, and the words stay. @default true */
  readonly markdown?: boolean;
  /** `false`: emoji are taken out. @default true */
  readonly emoji?: boolean;
  /** Sentences after which an answer is cut. @default none */
  readonly maxSentences?: number;
}

const optionChecks: OptionChecks<FormatRulesOptions> = {
  markdown: isFlag,
  emoji: isFlag,
  maxSentences: isCount,
};

/**
 * Brings answers into a form: for voices, text messages and other places where marks would be read
 * aloud. Not for agents whose answer is JSON.
 * @throws InvalidOptionError
 */
export function formatRules(options: FormatRulesOptions = {}): Guardrail {
  checkOptions('formatRules', options, optionChecks);
  const { markdown = true, emoji = true, maxSentences } = options;
  return Object.freeze({
    name: 'formatRules',
    output: ({ text }: OutputCheck) => {
      const changes: string[] = [];
      let value = text;
      const apply = (change: string, changed: string): void => {
        if (changed === value) return;
        changes.push(change);
        value = changed;
      };
      if (!markdown) apply('Markdown', withoutMarkdown(value));
      if (!emoji) apply('emoji', withoutEmoji(value));
      if (maxSentences !== undefined)
        apply(`what follows ${maxSentences} sentences`, firstSentences(value, maxSentences));
      // An answer of nothing but emoji is better than none.
      if (changes.length === 0 || value.trim() === '') return undefined;
      return {
        action: 'transform' as const,
        value,
        reasoning: `Taken out of the answer: ${changes.join(', ')}.`,
      };
    },
  });
}

const markdownSigns = /[*_`#>[\]|~]|^\s{0,3}(?:[-+]|\d{1,9}[.)])\s|^\s{0,3}[-=]{3,}/m;

// Each rule stops at the first sign that could begin the next match, so that none is slower than
// the text is long.
const lineRules: readonly (readonly [RegExp, string])[] = [
  [/^\s{0,3}(?:```|~~~).*$/, ''],
  [/^\s{0,3}(?:(?:-[ \t]?){3,}|(?:\*[ \t]?){3,}|(?:_[ \t]?){3,}|={3,})$/, ''],
  [/^\s{0,3}\|?[ \t:-]{0,20}-{3}[-| \t:]*$/, ''],
  [/^\s{0,3}#{1,6}\s{1,10}/, ''],
  [/^(?:\s{0,3}>\s?){1,10}/, ''],
  [/^(\s{0,12})(?:[-*+]|\d{1,9}[.)])\s{1,4}/, '$1'],
];

const inlineRules: readonly (readonly [RegExp, string])[] = [
  [/!\[([^\][\n]{0,500})\]\([^()\s]{0,2000}\)/g, '$1'],
  [/\[([^\][\n]{1,500})\]\([^()\s]{0,2000}\)/g, '$1'],
  [/\*{1,3}(?=\S)([^*\n]*[^*\s])\*{1,3}/g, '$1'],
  [/(?<![\p{L}\p{N}_])_{1,3}(?=\S)([^_\n]*[^_\s])_{1,3}(?![\p{L}\p{N}_])/gu, '$1'],
  [/~~(?=\S)([^~\n]*[^~\s])~~/g, '$1'],
  [/`{1,3}([^`\n]+)`{1,3}/g, '$1'],
];

function withoutMarkdown(text: string): string {
  if (!markdownSigns.test(text)) return text;
  const lines = text.split('\n').flatMap((line) => {
    const kept = withoutMarksOfLine(line);
    return kept === '' && line.trim() !== '' ? [] : [kept];
  });
  return lines.join('\n').trim();
}

function withoutMarksOfLine(line: string): string {
  let kept = line;
  for (const [pattern, replacement] of lineRules) kept = kept.replace(pattern, replacement);
  const isRow = /^\s{0,3}\|.*\|\s*$/.test(line);
  if (isRow)
    kept = kept
      .split('|')
      .map((cell) => cell.trim())
      .filter((cell) => cell !== '')
      .join(', ');
  for (const [pattern, replacement] of inlineRules) kept = kept.replace(pattern, replacement);
  return kept;
}

const anyEmoji = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u;
const emojiWithSpace = new RegExp(
  [
    String.raw`[ \t]?(?:\p{RGI_Emoji}|\p{Emoji_Presentation}|\p{Regional_Indicator}`,
    String.raw`[\u2639\u263A\u2764\u2714\u2716])[\u{1F3FB}-\u{1F3FF}\uFE0F]?`,
  ].join('|'),
  'gv',
);

function withoutEmoji(text: string): string {
  return anyEmoji.test(text) ? text.replace(emojiWithSpace, '').replace(/^[ \t]+(?=\S)/, '') : text;
}

let segmenter: Intl.Segmenter | undefined;

function firstSentences(text: string, most: number): string {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'sentence' });
  let count = 0;
  for (const { segment, index } of segmenter.segment(text)) {
    // Text without a letter or digit is white space or a sign, and no sentence.
    if (!/[\p{L}\p{N}]/u.test(segment)) continue;
    if (++count > most) return text.slice(0, index).trimEnd();
  }
  return text;
}
