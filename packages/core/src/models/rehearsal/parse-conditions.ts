import type { ComparisonOperator, Condition } from './request.ts';

const value = `["'“]?([^"'”,;]+?)["'”]?`;
const end = '(?=\\s*(?:$|,|;|\\band\\b|\\bbut\\b|\\bin\\s+[\\w./-]+\\.(?:csv|tsv)|\\bfrom\\s*$|\\bin\\s*$|\\bof\\s*$))';

const operators: readonly (readonly [string, ComparisonOperator])[] = [
  ["(?:is\\s+)?(?:not\\s+equal\\s+to|not|isn't|!=|≠|other\\s+than)", '!='],
  ['(?:is\\s+)?(?:at\\s+least|>=|≥)', '>='],
  ['(?:is\\s+)?(?:at\\s+most|no\\s+more\\s+than|<=|≤)', '<='],
  ['(?:is\\s+)?(?:over|above|greater\\s+than|more\\s+than|larger\\s+than|exceeds?|exceeding|after|>)', '>'],
  ['(?:is\\s+)?(?:under|below|less\\s+than|smaller\\s+than|before|<)', '<'],
  ['(?:contains?|includes?|containing)', 'contains'],
  ['(?:is\\s+equal\\s+to|equals?|is|are|=+)', '='],
];

/** Words that say of a row in what state it is. */
const stateWords =
  /\b(un(?:paid|settled|shipped|sent|approved|confirmed|resolved|delivered)|not\s+(?:paid|shipped|sent|approved|settled|delivered|overdue|active|closed)|paid|overdue|outstanding|settled|open|closed|pending|cancell?ed|shipped|delivered|draft|active|inactive|late|refunded|approved|rejected|completed|failed|resolved|confirmed|returned)\b/gi;

/** What a clause says of the rows that count. Conditions are joined by "and"; "or" is not understood. */
export function parseConditions(clause: string): readonly Condition[] {
  const conditions: Condition[] = [];
  const [before = '', ...after] = clause.split(/\b(?:where|whose|having|with|for\s+which)\b/i);
  for (const part of after) for (const piece of part.split(/\s+(?:and|but)\s+/i)) conditions.push(...parseComparison(piece));
  // What follows "where" and did not have the form of a comparison is read like the rest.
  const rest = (conditions.length === 0 ? clause : before).replace(/^(?:please\s+)?open\b/i, '');
  conditions.push(...parseRange(rest));
  for (const match of rest.matchAll(stateWords)) {
    if (match[1] !== undefined) conditions.push({ kind: 'state', word: match[1].toLowerCase().replace(/^not\s+/, 'un') });
  }
  conditions.push(...parseValues(rest));
  return conditions;
}

function parseComparison(text: string): Condition[] {
  const piece = text.replace(/\b(?:in|from|of|at|inside)\s*$/i, '').trim();
  const blank = /^(?:the\s+|an?\s+)?([\w ]+?)\s+is\s+(not\s+)?(?:empty|blank|missing)$/i.exec(piece);
  if (blank?.[1] !== undefined) return [{ kind: 'compare', column: blank[1], op: blank[2] === undefined ? 'empty' : 'not_empty' }];
  for (const [pattern, op] of operators) {
    const match = new RegExp(
      `^(?:the\\s+|an?\\s+)?([A-Za-z_][\\w ]*?)\\s*(?:\\b|(?=[<>=!≠≤≥]))\\s*${pattern}(?![A-Za-z])\\s*(?:the\\s+)?${value}\\s*$`,
      'i',
    ).exec(piece);
    if (match?.[1] !== undefined && match[2] !== undefined) return [{ kind: 'compare', column: match[1].trim(), op, value: cleanValue(match[2]) }];
  }
  return [];
}

const bareRange =
  /\b(at\s+least|at\s+most|no\s+more\s+than|over|above|greater\s+than|more\s+than|under|below|less\s+than)\s+[$€£]?\s*(\d[\d,]*(?:\.\d+)?)/gi;
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
    const op = operators.find(([pattern]) => new RegExp(`^${pattern}$`, 'i').test(words))?.[1] ?? '=';
    return { kind: 'compare', op, value: cleanValue(limit) };
  });
}

/** "from France", "for Acme Ltd", "by Ann": a capital letter or quotes tell a value from other words. */
function parseValues(text: string): Condition[] {
  const pattern = new RegExp(
    `\\b(?:from|for|by|of|to|in)\\s+(?:customer\\s+|country\\s+|client\\s+|category\\s+|supplier\\s+|vendor\\s+)?(?:["'“]([^"'”]+)["'”]|([A-Z][\\w&.-]*(?:\\s+[A-Z][\\w&.-]*)*))${end}`,
    'g',
  );
  return [...text.matchAll(pattern)].flatMap(([, inQuotes, capitalised]) => {
    const found = inQuotes ?? capitalised;
    return found === undefined ? [] : [{ kind: 'value' as const, value: found.trim() }];
  });
}

/** Numbers lose their thousands separators and currency. */
function cleanValue(text: string): string {
  const trimmed = text.trim();
  return /^[$€£]?\s*\d[\d,]*(?:\.\d+)?$/.test(trimmed) ? trimmed.replaceAll(/[$€£,\s]/g, '') : trimmed;
}
