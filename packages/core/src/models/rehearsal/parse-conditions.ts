import type { ComparisonOperator, Condition } from './request.ts';

const value = `["'“]?([^"'”,;]+?)["'”]?`;

const moreThan = 'over|above|greater\\s+than|more\\s+than|larger\\s+than';
const operators: readonly (readonly [string, ComparisonOperator])[] = [
  ["(?:is\\s+)?(?:not\\s+equal\\s+to|not|isn't|!=|≠|other\\s+than)", '!='],
  ['(?:is\\s+)?(?:at\\s+least|>=|≥)', '>='],
  ['(?:is\\s+)?(?:at\\s+most|no\\s+more\\s+than|<=|≤)', '<='],
  [`(?:is\\s+)?(?:${moreThan}|exceeds?|exceeding|after|>)`, '>'],
  ['(?:is\\s+)?(?:under|below|less\\s+than|smaller\\s+than|before|<)', '<'],
  ['(?:contains?|includes?|containing)', 'contains'],
  ['(?:is\\s+equal\\s+to|equals?|is|are|=+)', '='],
];

const unfinished = '(?:paid|settled|shipped|sent|approved|confirmed|resolved|delivered)';
const negatable = '(?:paid|shipped|sent|approved|settled|delivered|overdue|active|closed)';
const states = [
  ...['paid', 'overdue', 'outstanding', 'settled', 'open', 'closed', 'pending', 'cancell?ed'],
  ...['shipped', 'delivered', 'draft', 'active', 'inactive', 'late', 'refunded', 'approved'],
  ...['rejected', 'completed', 'failed', 'resolved', 'confirmed', 'returned'],
].join('|');
/** Words for the state of a row. */
const stateWords = new RegExp(String.raw`\b(un${unfinished}|not\s+${negatable}|${states})\b`, 'gi');

/**
 * Returns the conditions of a clause on its rows; all of them must hold. States are left out,
 * because several of them are alternatives.
 */
export function parseConditions(clause: string): readonly Condition[] {
  const { rest, where } = splitWhere(clause);
  const dates = parseDates(rest);
  const values = parseValues(rest.replace(datePattern, ' '));
  return [...where.flatMap(parseComparison), ...parseRange(rest), ...dates, ...values];
}

/**
 * Returns the states that a clause names, such as "unpaid". Several of them, as in "unpaid and
 * overdue", are alternatives.
 */
export function parseStates(clause: string): readonly Condition[] {
  const { rest } = splitWhere(clause);
  return [...rest.replace(/^(?:please\s+)?open\b/i, '').matchAll(stateWords)].flatMap(
    ([, found = '']) => {
      const word = found.toLowerCase();
      return [
        { kind: 'state' as const, word: word.replace(/^not\s+/, ''), negated: /^not\s/.test(word) },
      ];
    },
  );
}

const whereWords = new RegExp(
  String.raw`\b(?:where|whose|having|for\s+which|` +
    String.raw`with(?=\s+(?:an?\s+|the\s+)?\w+\s+(?:is|of|over|under|above|below|[<>=])))\b`,
  'i',
);

/**
 * Splits off the conditions after "where". "With" counts as "where" only in front of a column and
 * an operator.
 */
function splitWhere(clause: string): { readonly rest: string; readonly where: readonly string[] } {
  const [rest = '', ...after] = clause.split(whereWords);
  return {
    rest,
    where: after
      .flatMap((part) => part.split(/\s+(?:and|but)\s+/i))
      .filter((piece) => bare(piece) !== ''),
  };
}

/** Removes the preposition that is left of "in <file>" without the name of the file. */
function bare(piece: string): string {
  return piece.replace(/\b(?:in|from|of|at|inside)\s*$/i, '').trim();
}

const datePattern = /(?:\b(\w+)\s+)?\b(after|before|since|until|on)\s+(\d{4}-\d{2}-\d{2})\b/gi;
const dateOperators: { readonly [word: string]: ComparisonOperator } = {
  after: '>',
  before: '<',
  since: '>=',
  until: '<=',
  on: '=',
};

/** Returns conditions on dates. In "due after 2026-01-01", the word before may name the column. */
function parseDates(text: string): Condition[] {
  return [...text.matchAll(datePattern)].map(([, column = 'date', word = '', value = '']) => ({
    kind: 'compare',
    column,
    op: dateOperators[word.toLowerCase()] ?? '=',
    value,
  }));
}

function parseComparison(text: string): Condition[] {
  const piece = bare(text);
  const blank = /^(?:the\s+|an?\s+)?([\w ]+?)\s+is\s+(not\s+)?(?:empty|blank|missing)$/i.exec(
    piece,
  );
  if (blank?.[1] !== undefined)
    return [
      { kind: 'compare', column: blank[1], op: blank[2] === undefined ? 'empty' : 'not_empty' },
    ];
  if (/\bor\b/i.test(piece)) return [{ kind: 'unclear', text: piece }];
  for (const [pattern, op] of operators) {
    const match = new RegExp(
      '^(?:the\\s+|an?\\s+)?([A-Za-z_][\\w ]*?)\\s*(?:\\b|(?=[<>=!≠≤≥]))\\s*' +
        `${pattern}(?![A-Za-z])\\s*(?:the\\s+)?${value}\\s*$`,
      'i',
    ).exec(piece);
    if (match?.[1] !== undefined && match[2] !== undefined)
      return [{ kind: 'compare', column: match[1].trim(), op, value: cleanValue(match[2]) }];
  }
  return [{ kind: 'unclear', text: piece }];
}

const bareRange = new RegExp(
  String.raw`\b(at\s+least|at\s+most|no\s+more\s+than|over|above|greater\s+than|more\s+than|` +
    String.raw`under|below|less\s+than)\s+[$€£]?\s*(\d[\d,]*(?:\.\d+)?)`,
  'gi',
);
const between = /\bbetween\s+[$€£]?(\d[\d,]*(?:\.\d+)?)\s+and\s+[$€£]?(\d[\d,]*(?:\.\d+)?)/i;

function parseRange(text: string): Condition[] {
  const [, low, high] = between.exec(text) ?? [];
  if (low !== undefined && high !== undefined) {
    return [
      { kind: 'compare', op: '>=', value: cleanValue(low) },
      { kind: 'compare', op: '<=', value: cleanValue(high) },
    ];
  }
  return [...text.matchAll(bareRange)].map(([, words = '', limit = '']) => {
    const op =
      operators.find(([pattern]) => new RegExp(`^${pattern}$`, 'i').test(words))?.[1] ?? '=';
    return { kind: 'compare', op, value: cleanValue(limit) };
  });
}

/**
 * Returns the values that a clause names, as in "from France", "for Acme Ltd", "Travel expenses". A
 * capital letter within the clause, or quotes, mark a value.
 */
function parseValues(text: string): Condition[] {
  const pattern = /["'“]([^"'”]+)["'”]|(?<=\S\s+)\b([A-Z][\w&.-]*(?:\s+[A-Z][\w&.-]*)*)/g;
  return [...text.matchAll(pattern)].flatMap(([, inQuotes, capitalised]) => {
    const found = (inQuotes ?? capitalised)?.trim();
    return found === undefined || notValues.test(found)
      ? []
      : [{ kind: 'value' as const, value: found }];
  });
}

const notValues = /^(?:I|CSV|VAT|TSV|USD|EUR|GBP|Please|And|The)$/;

/** Removes thousands separators and the currency from a number. */
function cleanValue(text: string): string {
  const trimmed = text.trim();
  return /^[$€£]?\s*\d[\d,]*(?:\.\d+)?$/.test(trimmed)
    ? trimmed.replaceAll(/[$€£,\s]/g, '')
    : trimmed;
}
