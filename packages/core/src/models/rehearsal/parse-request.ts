import { defined } from '../../base/defined.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { parseCalculation } from './parse-calculation.ts';
import { parseList, parseRead, parseSearch } from './parse-file-request.ts';
import { parseFollowUp } from './parse-follow-up.ts';
import { parseTable, type TableContext } from './parse-table.ts';
import { parseToolCall } from './parse-tool-call.ts';
import type { Request } from './request.ts';
import { findTablePath } from './table-path.ts';

/**
 * Characters of a message that are read. The time of some rules grows with the square of the
 * length, so messages and clauses are bounded; the questions of people are shorter.
 */
const longestMessage = 2_000;
/** Characters of one clause that are read. */
const longestClause = 500;
/** Characters quoted of a clause that is too long. */
const longestQuote = 80;

/**
 * Returns the requests of a message, in order. "Add up the unpaid invoices in invoices.csv and tell
 * me 15% of the total" is two requests. The list is empty when no clause is understood. Only the
 * beginning of a long message is read, and the last request says so.
 */
export function parseRequests(message: string): readonly Request[] {
  const read = cutText(message, longestMessage);
  const named = parseToolCall(read);
  if (named !== undefined) return [named];
  const requests: Request[] = [];
  const onlyTable = findTablePath(read);
  for (const clause of splitClauses(read)) {
    const earlier = requests.findLast((request) => request.kind === 'table');
    requests.push(...parseBounded(clause, { onlyTable, earlier, hasEarlier: requests.length > 0 }));
  }
  if (requests.every(({ kind }) => kind === 'unclear')) return [];
  return read.length === message.length
    ? requests
    : [...requests, { kind: 'unread', from: read.length }];
}

function parseBounded(
  clause: string,
  context: TableContext & { readonly hasEarlier: boolean },
): readonly Request[] {
  if (clause.length > longestClause)
    return [{ kind: 'unclear', text: `${cutText(clause, longestQuote)}…` }];
  const followUp = parseFollowUp(clause, context.hasEarlier);
  const parsed = followUp === undefined ? parseClause(clause, context) : [followUp];
  return parsed.length > 0 ? parsed : [{ kind: 'unclear', text: clause }];
}

/** Words that begin a command. */
const commandWords = [
  ...['tell', 'give', 'show', 'add', 'sum', 'total', 'count', 'what', 'how', 'calculate'],
  ...['compute', 'work out', 'list', 'read', 'search', 'find', 'open', 'print', 'look', 'fetch'],
  ...['also', 'then', 'which', 'take', 'apply', 'increase', 'reduce', 'divide', 'multiply'],
  ...['subtract', 'deduct', 'halve', 'double', 'round', 'convert', 'sort', 'compare', 'plot'],
  ...['draw', 'write', 'save', 'send', 'email', 'delete', 'rename', 'translate'],
  ...['summari[sz]e', 'explain'],
  'the (?:average|mean|sum|total|largest|smallest|highest|lowest|time)',
].join('|');
const clauseBoundary = new RegExp(
  String.raw`(?:[.!?;]\s+|\n+|,?\s+(?:and(?:\s+then)?|then)\s+|,\s+)` +
    String.raw`(?=(?:please\s+)?(?:${commandWords})\b)`,
  'gi',
);

/**
 * Splits a message into clauses. A new clause begins after a sentence, or after a word such as
 * "and" in front of a command. "France and over 100" stays together.
 */
function splitClauses(message: string): readonly string[] {
  return message
    .split(clauseBoundary)
    .map((clause) =>
      clause
        .replace(/^(?:and|then|also|please)\s+/i, '')
        .replace(/[\s.!?;,]+$/, '')
        .trim(),
    )
    .filter((clause) => clause !== '');
}

function parseClause(clause: string, context: TableContext): readonly Request[] {
  const simple = parseFetch(clause) ?? parseSearch(clause) ?? parseTime(clause);
  if (simple !== undefined) return [simple];
  const table = parseTable(clause, context);
  if (table.length > 0) return table;
  const request = parseList(clause) ?? parseRead(clause) ?? parseCalculation(clause);
  return request === undefined ? [] : [request];
}

function parseFetch(clause: string): Request | undefined {
  const url = /https?:\/\/[^\s"'<>]+/.exec(clause)?.[0];
  return url === undefined ? undefined : { kind: 'fetch', url: url.replace(/[.,)]+$/, '') };
}

const timeQuestions = new RegExp(
  [
    String.raw`\bwhat(?:'s|’s|\s+is)?\s+(?:the\s+)?(?:current\s+|exact\s+)?(?:time|date|day)\b`,
    String.raw`\bthe\s+(?:current\s+)?(?:time|date)\b`,
    String.raw`\btoday(?:'s|’s)?\s+date\b`,
    String.raw`^(?:current\s+)?(?:time|date)\b`,
    String.raw`\btime\s+is\s+it\b`,
    String.raw`\bwhat\s+day\b`,
  ].join('|'),
  'i',
);

function parseTime(clause: string): Request | undefined {
  if (!timeQuestions.test(clause)) return undefined;
  const place =
    /\b(?:in|at|for)\s+([A-Za-z][A-Za-z_/+-]*(?:\s+[A-Z][a-z]+)*)/.exec(clause)?.[1] ??
    /\b(UTC|GMT)\b/.exec(clause)?.[1];
  return { kind: 'time', ...defined({ place }) };
}
