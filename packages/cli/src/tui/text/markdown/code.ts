import { type Line, type Look, type Span, splitLines } from '../spans.ts';
import { plainSpans } from './inline.ts';

const keywords = [
  'abstract and as assert async await begin break case catch class const continue def default',
  'defer del delete do done echo elif else elsif end enum esac except export extends extern fi',
  'final finally fn for foreach from func function global go goto if impl implements import in',
  'instanceof interface is lambda let local loop match mod module move mut namespace new nonlocal',
  'not of or override package pass private protected pub public raise readonly require return',
  'select self static struct super switch then this throw throws trait try type typeof union',
  'unless unsafe until use using val var void when where while with yield',
]
  .join(' ')
  .split(' ');
const sqlKeywords =
  'select from where insert into values update set delete create table index drop alter join ' +
  'left right inner outer on group by order having limit offset and or not null as distinct ' +
  'union all primary key references default begin commit rollback with case when then else end';

const literals = 'true false null undefined None True False nil NaN Infinity';

interface Language {
  readonly comment?: string;
  readonly strings: string;
  readonly keywords: string;
  readonly ignoresCase?: boolean;
}

const doubleQuoted = String.raw`"(?:[^"\\\n]|\\.)*"?`;
const singleQuoted = String.raw`'(?:[^'\\\n]|\\.)*'?`;
const backQuoted = '`(?:[^`\\\\]|\\\\[\\s\\S])*`?';
const lineComment = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const allStrings = [doubleQuoted, singleQuoted, backQuoted].join('|');

const likeC: Language = {
  comment: lineComment,
  strings: allStrings,
  keywords: keywords.join('|'),
};
const withHash: Language = {
  comment: '(?<![$&\\w])#[^\\n]*',
  strings: `"""[\\s\\S]*?(?:"""|$)|${doubleQuoted}|${singleQuoted}`,
  keywords: keywords.join('|'),
};
const sql: Language = {
  comment: String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`,
  strings: singleQuoted,
  keywords: sqlKeywords.replaceAll(' ', '|'),
  ignoresCase: true,
};
const data: Language = { strings: doubleQuoted, keywords: '(?!)' };
const markup: Language = {
  comment: String.raw`<!--[\s\S]*?(?:-->|$)`,
  strings: `${doubleQuoted}|${singleQuoted}`,
  keywords: '(?<=</?)[a-zA-Z][\\w-]*',
};

const languages: ReadonlyMap<string, Language> = new Map([
  ...named(likeC, 'js jsx ts tsx javascript typescript mjs cjs java c cpp h cs csharp go golang'),
  ...named(likeC, 'rs rust swift kt kotlin scala php dart css scss less json5 jsonc proto groovy'),
  ...named(withHash, 'py python rb ruby sh bash zsh fish shell yaml yml toml ini make makefile'),
  ...named(withHash, 'dockerfile docker perl r elixir ex nix conf graphql powershell ps1'),
  ...named(sql, 'sql postgres postgresql mysql sqlite lua haskell hs'),
  ...named(data, 'json jsonl ndjson'),
  ...named(markup, 'html xml svg vue svelte jsx-html'),
]);

function named(language: Language, names: string): [string, Language][] {
  return names.split(' ').map((name) => [name, language]);
}

const patterns = new Map<Language, RegExp>();

function patternOf(language: Language): RegExp {
  const known = patterns.get(language);
  if (known !== undefined) return known;
  const parts = [
    `(?<comment>${language.comment ?? '(?!)'})`,
    `(?<string>${language.strings})`,
    String.raw`(?<literal>\b(?:${literals.replaceAll(' ', '|')})\b|\b\d[\d_]*(?:\.\d+)?\w*)`,
    String.raw`(?<keyword>\b(?:${language.keywords})\b)`,
    String.raw`\w+`,
  ];
  const pattern = new RegExp(parts.join('|'), language.ignoresCase ? 'gi' : 'g');
  patterns.set(language, pattern);
  return pattern;
}

const looks: Readonly<Record<string, Look>> = {
  comment: { dim: true },
  string: { color: 'green' },
  literal: { color: 'cyan' },
  keyword: { color: 'blue' },
};

/** Returns the lines of a code, highlighted if its language is known. */
export function codeLines(code: string, name = ''): Line[] {
  const language = languages.get(name.toLowerCase());
  const shown = plainSpans(code);
  if (name.toLowerCase() === 'diff') return splitLines(shown).map(diffLine);
  if (language === undefined) return splitLines(shown);
  const text = shown.map((span) => span.text).join('');
  return splitLines(withLooks(shown, rangesOf(text, patternOf(language))));
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly look: Look;
}

function* rangesOf(text: string, pattern: RegExp): Generator<Range> {
  for (const { 0: token, index, groups = {} } of text.matchAll(pattern)) {
    const found = Object.keys(looks).find((name) => groups[name] !== undefined);
    if (found !== undefined)
      yield { start: index, end: index + token.length, look: looks[found] ?? {} };
  }
}

/** Gives the ranges of a text their looks. What is marked already keeps its colour. */
function withLooks(spans: readonly Span[], ranges: Iterator<Range>): Span[] {
  const painted: Span[] = [];
  let range = ranges.next();
  let at = 0;
  for (const span of spans) {
    const end = at + span.text.length;
    const start = at;
    while (at < end) {
      while (!range.done && range.value.end <= at) range = ranges.next();
      const inRange = !range.done && range.value.start <= at;
      const edge = range.done ? end : inRange ? range.value.end : range.value.start;
      const upTo = Math.min(end, edge);
      const text = span.text.slice(at - start, upTo - start);
      const look = inRange && !range.done && span.color === undefined ? range.value.look : {};
      painted.push({ ...look, ...span, text });
      at = upTo;
    }
  }
  return painted;
}

function diffLine(line: Span[]): Line {
  const color = { '+': 'green', '-': 'red' }[line[0]?.text[0] ?? ''] as 'green' | 'red' | undefined;
  return color === undefined ? line : line.map((span) => ({ color, ...span }));
}
