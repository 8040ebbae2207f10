import type { FollowUpRequest } from './request.ts';
import { findTablePath } from './table-path.ts';

const number = '(\\d[\\d,]*(?:\\.\\d+)?)';
const resultNouns = [
  ...['total', 'sum', 'result', 'average', 'mean', 'number', 'amount', 'count'],
  ...['maximum', 'minimum', 'figure', 'it', 'that', 'this'],
];
/** Words that speak of a result found before, such as "the total". */
const earlierResult = `(?:the\\s+|this\\s+|that\\s+)?(?:\\w+\\s+)?(?:${resultNouns.join('|')})`;
/** Words of arithmetic in front of a percentage, which then is no share of a result. */
const operatorBefore = '(?<!\\b(?:add|adding|plus|minus|less|subtract|deduct)\\s+)';

/** A form of words for a calculation with an earlier result, which the expression names `#`. */
interface FollowUpForm {
  readonly pattern: RegExp;
  readonly expression: (amount: string) => string;
  readonly label: (amount: string) => string;
}

const followUpForms: readonly FollowUpForm[] = [
  {
    pattern: new RegExp(
      `${operatorBefore}(?<![\\d.,])${number}\\s*(?:%|percent)\\s+of\\s+${earlierResult}\\b`,
      'i',
    ),
    expression: (amount) => `${factor(amount, 0)} * #`,
    label: (amount) => `${amount}% of #`,
  },
  {
    pattern: new RegExp(
      `(?:plus|add|adding|with|increase\\D*by|including)\\s+${number}\\s*(?:%|percent)`,
      'i',
    ),
    expression: (amount) => `${factor(amount, 100, 1)} * #`,
    label: (amount) => `# plus ${amount}%`,
  },
  {
    pattern: new RegExp(
      `(?:minus|less|subtract|deduct|reduce\\D*by|after)\\s+(?:a\\s+)?${number}\\s*(?:%|percent)`,
      'i',
    ),
    expression: (amount) => `${factor(amount, 100, -1)} * #`,
    label: (amount) => `# minus ${amount}%`,
  },
  {
    pattern: new RegExp(`^(?:add|plus)\\s+${number}(?:\\s+to\\s+${earlierResult})?$`, 'i'),
    expression: (amount) => `# + ${amount}`,
    label: (amount) => `# plus ${amount}`,
  },
  {
    pattern: new RegExp(
      `^(?:minus|subtract|deduct)\\s+${number}(?:\\s+from\\s+${earlierResult})?$`,
      'i',
    ),
    expression: (amount) => `# - ${amount}`,
    label: (amount) => `# minus ${amount}`,
  },
  {
    pattern: new RegExp(
      `(?:divide|split)\\s+${earlierResult}\\s+(?:by|into|among)\\s+${number}`,
      'i',
    ),
    expression: (amount) => `# / ${amount}`,
    label: (amount) => `# divided by ${amount}`,
  },
  {
    pattern: new RegExp(`multiply\\s+${earlierResult}\\s+by\\s+${number}`, 'i'),
    expression: (amount) => `# * ${amount}`,
    label: (amount) => `# times ${amount}`,
  },
];

/** Returns the factor of a percentage in short decimal digits: 15 % of a number is 0.15 of it. */
function factor(percent: string, base: number, sign = 1): string {
  return String(Number(((base + sign * Number(percent)) / 100).toFixed(12)));
}

/**
 * Returns a calculation with the result found before. A clause that names a file is a request of
 * its own, and gives `undefined`.
 */
export function parseFollowUp(clause: string, hasEarlier: boolean): FollowUpRequest | undefined {
  if (findTablePath(clause) !== undefined) return undefined;
  if (new RegExp(`\\bhalf\\s+(?:of\\s+)?${earlierResult}\\b`, 'i').test(clause))
    return { kind: 'followUp', expression: '0.5 * #', label: 'half of #' };
  for (const [index, { pattern, expression, label }] of followUpForms.entries()) {
    // The first form, "15% of the total", names an earlier result by itself. The other forms need
    // such a result and no second number.
    const amount = pattern.exec(clause)?.[1]?.replaceAll(',', '');
    if (
      amount === undefined ||
      (index > 0 && !hasEarlier && !new RegExp(`\\b${earlierResult}\\b`, 'i').test(clause))
    )
      continue;
    if (index > 0 && (clause.match(/\d+(?:\.\d+)?/g) ?? []).length > 1) continue;
    return { kind: 'followUp', expression: expression(amount), label: label(amount) };
  }
  return undefined;
}

/**
 * Returns the calculation within a clause about a table, such as "20% of the unpaid invoices" or
 * "the unpaid invoices minus 10%".
 */
export function parsePercentOf(clause: string): readonly FollowUpRequest[] | undefined {
  const percent = new RegExp(`(?<![\\d.,])${number}\\s*(?:%|percent)\\s+of\\b`, 'i')
    .exec(clause)?.[1]
    ?.replaceAll(',', '');
  if (percent !== undefined)
    return [
      { kind: 'followUp', expression: `${factor(percent, 0)} * #`, label: `${percent}% of #` },
    ];
  const change = parseFollowUp(clause, true);
  return change === undefined ? undefined : [change];
}
