import type { Request } from './request.ts';

/** Replacements of spoken operators, in order. */
const spokenOperators: readonly (readonly [RegExp, string])[] = [
  [/(\d),(?=\d{3}\b)/g, '$1'],
  [/[$€£]/g, ''],
  [/(?:the\s+)?square\s+root\s+of\s+(\d+(?:\.\d+)?)/gi, 'sqrt($1)'],
  [/\b(?:multiplied\s+by|times)\b|×|(?<=\d)\s*x\s*(?=\d)/gi, ' * '],
  [/\b(?:divided\s+by|over)\b|÷/gi, '/'],
  [/\bplus\b/gi, '+'],
  [/\bminus\b|−/gi, '-'],
  [/\b(?:to\s+the\s+power\s+of|\*\*)\b|\*\*/gi, '^'],
  [/\bsquared\b/gi, '^ 2'],
  [/\bcubed\b/gi, '^ 3'],
  [/(\d+(?:\.\d+)?)\s*(?:%|percent)\s+of\s+/gi, '$1 / 100 * '],
  [/(\d+(?:\.\d+)?)\s*(?:%|percent)/gi, '($1 / 100)'],
];

const courtesy = String.raw`^(?:please\s+|can you\s+|could you\s+)*`;
const questionWords = [
  ...[String.raw`what(?:'s|’s|\s+is|\s+are)?`, String.raw`how much\s+is`, 'calculate', 'compute'],
  ...[String.raw`work\s+out`, 'evaluate', 'solve', String.raw`tell\s+me`, String.raw`give\s+me`],
  ...['find', String.raw`the\s+result\s+of`, String.raw`the\s+value\s+of`, 'the', 'is'],
  String.raw`\s`,
];
const leadIn = new RegExp(String.raw`${courtesy}(?:${questionWords.join('|')})*\s*`, 'i');

/**
 * Returns the arithmetic of a clause: only numbers, operators and known functions, without the
 * words around them.
 */
export function parseCalculation(clause: string): Request | undefined {
  let text = clause.replace(leadIn, '').replace(/[=?\s]+$/, '');
  for (const [pattern, replacement] of spokenOperators) text = text.replace(pattern, replacement);
  text = text.replace(/^(?:calculate|compute|the)\s+/i, '').trim();
  const foreign = text.replace(
    /\b(?:sqrt|abs|round|floor|ceil|min|max|log|log10|log2|exp|sin|cos|tan|pi|e|mod)\b/gi,
    '',
  );
  const isArithmetic =
    /^[\d\s.+\-*/^(),%!]*$/.test(foreign) && /\d/.test(text) && /[+\-*/^(!%]/.test(text);
  return isArithmetic ? { kind: 'calculate', expression: text.replaceAll(/\s+/g, ' ') } : undefined;
}
