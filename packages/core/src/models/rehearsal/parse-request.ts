import { cutText } from '../../base/cut-text.ts';
import { parseConditions, parseStates } from './parse-conditions.ts';
import type { Condition, FollowUpRequest, Request, Statistic, TableRequest } from './request.ts';

/**
 * Characters of a message that are read, and of one clause that is looked into. The time of some
 * rules grows with the square of the length, so both are bounded: what people ask of this model is
 * shorter.
 */
const longestMessage = 2_000;
const longestClause = 500;
/** Characters of a clause that is quoted because it is too long. */
const longestQuote = 80;

/**
 * What a message asks for, in its order: "Add up the unpaid invoices in invoices.csv and tell me
 * 15% of the total" is two requests. Empty when nothing of it is understood. Of a long message only
 * the beginning is read, and the last request says so.
 */
export function parseRequests(message: string): readonly Request[] {
  const read = cutText(message, longestMessage);
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
  surroundings: TableSurroundings & { readonly hasEarlier: boolean },
): readonly Request[] {
  if (clause.length > longestClause)
    return [{ kind: 'unclear', text: `${cutText(clause, longestQuote)}…` }];
  const followUp = parseFollowUp(clause, surroundings.hasEarlier);
  const parsed = followUp === undefined ? parseClause(clause, surroundings) : [followUp];
  return parsed.length > 0 ? parsed : [{ kind: 'unclear', text: clause }];
}

/** What the rest of the message says about tables. */
interface TableSurroundings {
  readonly onlyTable: string | undefined;
  readonly earlier: TableRequest | undefined;
}

const commandWords =
  'tell|give|show|add|sum|total|count|what|how|calculate|compute|work ' +
  'out|list|read|search|find|open|print|look|fetch|also|then|which|take|apply|increase|reduce|divide|multiply|subtract|deduct|halve|double|round|convert|sort|compare|plot|draw|write|save|send|email|delete|rename|translate|summari[sz]e|explain|the ' +
  '(?:average|mean|sum|total|largest|smallest|highest|lowest|time)';

/**
 * A new clause begins after a sentence, or after "and" and the like if a command follows: "France
 * and over 100" stays together.
 */
function splitClauses(message: string): readonly string[] {
  const boundary = new RegExp(
    `(?:[.!?;]\\s+|\\n+|,?\\s+(?:and(?:\\s+then)?|then)\\s+|,\\s+)(?=(?:please\\s+)?(?:${commandWords})\\b)`,
    'gi',
  );
  return message
    .split(boundary)
    .map((clause) =>
      clause
        .replace(/^(?:and|then|also|please)\s+/i, '')
        .replace(/[\s.!?;,]+$/, '')
        .trim(),
    )
    .filter((clause) => clause !== '');
}

const number = '(\\d[\\d,]*(?:\\.\\d+)?)';
const earlierResult =
  '(?:the\\s+|this\\s+|that\\s+)?(?:\\w+\\s+)?(?:total|sum|result|average|mean|number|amount|count|maximum|minimum|figure|it|that|this)';

interface FollowUpForm {
  readonly pattern: RegExp;
  readonly expression: (amount: string) => string;
  readonly label: (amount: string) => string;
}

const followUpForms: readonly FollowUpForm[] = [
  {
    pattern: new RegExp(
      `(?<!\\b(?:add|adding|plus|minus|less|subtract|deduct)\\s+)(?<![\\d.,])${number}\\s*(?:%|percent)\\s+of\\s+${earlierResult}\\b`,
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

/** The factor of a percentage as short decimal digits: 15 % of something is 0.15 times it. */
function factor(percent: string, base: number, sign = 1): string {
  return String(Number(((base + sign * Number(percent)) / 100).toFixed(12)));
}

/**
 * A calculation with what was found before. A file named in the clause makes it a request of its
 * own.
 */
function parseFollowUp(clause: string, hasEarlier: boolean): FollowUpRequest | undefined {
  if (findTablePath(clause) !== undefined) return undefined;
  if (new RegExp(`\\bhalf\\s+(?:of\\s+)?${earlierResult}\\b`, 'i').test(clause))
    return { kind: 'followUp', expression: '0.5 * #', label: 'half of #' };
  for (const [index, { pattern, expression, label }] of followUpForms.entries()) {
    // Only "15% of the total" speaks of an earlier result by itself; "plus 20%" does when there is
    // one and no other number.
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

function parseClause(clause: string, surroundings: TableSurroundings): readonly Request[] {
  const simple = parseFetch(clause) ?? parseSearch(clause) ?? parseTime(clause);
  if (simple !== undefined) return [simple];
  const table = parseTable(clause, surroundings);
  if (table.length > 0) return table;
  const request = parseList(clause) ?? parseRead(clause) ?? parseCalculation(clause);
  return request === undefined ? [] : [request];
}

function parseFetch(clause: string): Request | undefined {
  const url = /https?:\/\/[^\s"'<>]+/.exec(clause)?.[0];
  return url === undefined ? undefined : { kind: 'fetch', url: url.replace(/[.,)]+$/, '') };
}

const quoted = /["“'`]([^"”'`]+)["”'`]/;
const pathToken = /(?:^|[\s"'`(“])((?:\.{0,2}\/)?[\w.-]+(?:\/[\w.-]+)*\/?)(?=$|[\s"'`),;:?!”])/g;

function parseSearch(clause: string): Request | undefined {
  const asks =
    /\b(?:search|grep|look for|mentions?|contain(?:s|ing)?)\b|\bfind\b(?!\s+(?:the\s+)?(?:sum|total|average|mean|largest|smallest|highest|lowest|maximum|minimum))/i;
  if (!asks.test(clause) || findTablePath(clause) !== undefined) return undefined;
  const query =
    quoted.exec(clause)?.[1] ??
    /\b(?:search|grep|look)(?:\s+(?:the|all|my))?(?:\s+files?)?(?:\s+for)?\s+(?:the\s+(?:word|text|phrase)\s+)?(\S+)/i.exec(
      clause,
    )?.[1] ??
    /\b(?:mentions?|contain(?:s|ing)?|find)\s+(?:the\s+(?:word|text|phrase)\s+)?(\S+)/i.exec(
      clause,
    )?.[1];
  if (query === undefined || query === '') return undefined;
  const path =
    /\b(?:in|under|inside|within)\s+(?:the\s+)?(?:files?\s+(?:in|under|of)\s+)?(?:folder\s+|directory\s+)?["'`]?([\w./-]*\w\/?)["'`]?/i.exec(
      clause.replace(quoted, ''),
    )?.[1];
  return {
    kind: 'search',
    query,
    ...(path === undefined || /^(files?|all|any|the|here|this|it)$/i.test(path) ? {} : { path }),
  };
}

function parseTime(clause: string): Request | undefined {
  if (
    !/\bwhat(?:'s|’s|\s+is)?\s+(?:the\s+)?(?:current\s+|exact\s+)?(?:time|date|day)\b|\bthe\s+(?:current\s+)?(?:time|date)\b|\btoday(?:'s|’s)?\s+date\b|^(?:current\s+)?(?:time|date)\b|\btime\s+is\s+it\b|\bwhat\s+day\b/i.test(
      clause,
    )
  )
    return undefined;
  const place =
    /\b(?:in|at|for)\s+([A-Za-z][A-Za-z_/+-]*(?:\s+[A-Z][a-z]+)*)/.exec(clause)?.[1] ??
    /\b(UTC|GMT)\b/.exec(clause)?.[1];
  return { kind: 'time', ...(place === undefined ? {} : { place }) };
}

/** The first path of a table in a text. */
function findTablePath(text: string): string | undefined {
  return (
    /["“'`]([^"”'`]+\.(?:csv|tsv))["”'`]/i.exec(text)?.[1] ??
    /[\w./\\~-]+\.(?:csv|tsv)\b/i.exec(text)?.[0]
  );
}

const statistics: readonly (readonly [RegExp, Statistic])[] = [
  [/\b(?:average|mean|avg)\b/i, 'avg'],
  [/\b(?:largest|biggest|highest|maximum|max|most expensive|greatest)\b/i, 'max'],
  [/\b(?:smallest|lowest|minimum|min|cheapest|least)\b(?!\s+\d)/i, 'min'],
  [/\b(?:how many|count|number of)\b/i, 'count'],
  [/\b(?:add(?:\s+\w+){0,2}\s+up|add up|sum|total|altogether|how much|add together)\b/i, 'sum'],
];

/**
 * Questions about tables that would be answered wrongly if only the rest of their words were heard.
 */
const beyondTables =
  /\b(?:difference|compared?|versus|vs|ratio|share|median|sort(?:ed)?|top|trend|chart|plot|month(?:ly)?|weekly|yearly)\b/i;
const tableNouns =
  /\b(?:rows?|records?|entries|invoices?|orders?|customers?|payments?|sales|expenses?|transactions?|products?|items?|amounts?)\b/i;

/**
 * A clause without a file, such as "what is the average", speaks of the file, and of the rows, that
 * the message names elsewhere.
 */
function parseTable(clause: string, { onlyTable, earlier }: TableSurroundings): readonly Request[] {
  const own = findTablePath(clause);
  const rest = (own === undefined ? clause : clause.replace(own, ' '))
    .replaceAll(/[“”`]/g, '"')
    .replaceAll(/"\s*"/g, ' ');
  const found = findStatistics(rest);
  const borrowed =
    own === undefined && found.length > 0 && !/\d/.test(clause) ? onlyTable : undefined;
  const path = own ?? borrowed;
  if (path === undefined && (found.length === 0 || !tableNouns.test(rest))) return [];
  const states = parseStates(rest);
  const others = parseConditions(rest);
  const grouping = /\b(?:by|per|for\s+each|for\s+every)\s+(?:the\s+)?([a-z][a-z_]*)\b/.exec(
    rest,
  )?.[1];
  if (beyondTables.test(rest) || (found.length === 0 && states.length + others.length === 0))
    return [];
  const inherited =
    borrowed !== undefined && states.length + others.length === 0
      ? (earlier?.conditions ?? [])
      : [];
  const alternatives: readonly (readonly Condition[])[] =
    states.length === 0 ? [[...inherited, ...others]] : states.map((state) => [state, ...others]);
  const words = rest.toLowerCase().match(/[a-z][a-z_]+/g) ?? [];
  const more = {
    words,
    ...(path === undefined ? {} : { path }),
    ...(grouping === undefined ? {} : { groupBy: grouping }),
  };
  const requests = (found.length === 0 ? (['rows'] as const) : found).flatMap(
    (statistic): Request[] => [
      ...alternatives.map(
        (conditions): TableRequest => ({ kind: 'table', statistic, conditions, ...more }),
      ),
      ...(alternatives.length > 1 && (statistic === 'sum' || statistic === 'count')
        ? [{ kind: 'combine' as const, count: alternatives.length }]
        : []),
    ],
  );
  const calculation = parsePercentOf(rest);
  const conditions = alternatives.flat();
  const unheard =
    calculation === undefined ? findUnheard(rest, clause, own, conditions) : undefined;
  return [
    ...requests,
    ...(calculation ?? []),
    ...(unheard === undefined ? [] : [{ kind: 'unclear' as const, text: unheard }]),
  ];
}

/**
 * "20% of the unpaid invoices", "the unpaid invoices minus 10%": a calculation in the clause of the
 * table itself.
 */
function parsePercentOf(clause: string): readonly FollowUpRequest[] | undefined {
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

/**
 * A part of a clause about a table that no rule has heard: a number that no condition has, or what
 * follows "and" behind the file. It must not be passed over, or the answer would be one to another
 * question.
 */
function findUnheard(
  rest: string,
  clause: string,
  path: string | undefined,
  conditions: readonly Condition[],
): string | undefined {
  const heard = JSON.stringify(conditions)
    .replaceAll(/[^\d.]+/g, ' ')
    .split(' ');
  for (const [found, digits = ''] of rest.matchAll(
    /(?:[A-Za-z]+\s+)?[$€£]?(?<![\w.,-])(\d[\d,.-]*)(?:\s*%|\s+[A-Za-z]+)?/g,
  )) {
    const parts = digits
      .replaceAll(',', '')
      .replace(/[.-]+$/, '')
      .split('-');
    if (!parts.every((part) => heard.includes(part))) return found.trim();
  }
  const behind =
    path === undefined
      ? undefined
      : /^["”`]?\s*,?\s*(?:and|but|then)\s+(.+)$/i.exec(
          clause.slice(clause.indexOf(path) + path.length),
        )?.[1];
  if (
    behind === undefined ||
    findStatistics(behind).length + parseStates(behind).length + parseConditions(behind).length > 0
  )
    return undefined;
  return behind;
}

/**
 * "Total" and "how much" ask for a sum only when nothing else is asked for: "the total number",
 * "the average total".
 */
function findStatistics(text: string): readonly Statistic[] {
  const found = statistics
    .filter(([pattern]) => pattern.test(text))
    .map(([, statistic]) => statistic);
  const asksToAdd = /\b(?:add|sum|altogether)\b/i.test(text);
  return found.length > 1 && !asksToAdd ? found.filter((statistic) => statistic !== 'sum') : found;
}

function parseList(clause: string): Request | undefined {
  const asks =
    /\b(?:list|show|what|which|see|display)\b.*\b(?:files?|folders?|director(?:y|ies))\b|^ls\b|\bwhat(?:'s|’s| is)\s+in\s+(?:the\s+)?(?:folder|directory)|^list\b/i;
  if (!asks.test(clause)) return undefined;
  const path =
    /\b(?:in|under|inside|within|of|folder|directory|ls|list)\s+(?:the\s+|my\s+)?(?:folder\s+|directory\s+)?["'`]?((?:\.{0,2}\/)?[\w.-]+(?:\/[\w.-]+)*\/?)["'`]?(?:\s+(?:folder|directory))?$/i.exec(
      clause,
    )?.[1];
  const extension = /\b(csv|md|markdown|json|txt|ts|js)\s+files?\b|\*\.(\w+)/i.exec(clause);
  const suffix = (extension?.[1] ?? extension?.[2])?.toLowerCase();
  return {
    kind: 'list',
    ...(path === undefined || /^(files?|the|all|here|folder|directory|workspace|this)$/i.test(path)
      ? {}
      : { path }),
    ...(suffix === undefined ? {} : { extension: suffix === 'markdown' ? 'md' : suffix }),
  };
}

function parseRead(clause: string): Request | undefined {
  if (
    !/\b(?:read|open|show|print|cat|display|contents?|what(?:'s|’s| is) in|what does|first lines)\b/i.test(
      clause,
    )
  )
    return undefined;
  const inQuotes = quoted.exec(clause)?.[1];
  const candidates = [...clause.matchAll(pathToken)].flatMap((match) =>
    match[1] === undefined ? [] : [match[1]],
  );
  const path =
    inQuotes ??
    candidates.find(
      (token) => /\.\w{1,6}$/.test(token) || (/\w\/\w/.test(token) && !/^\d/.test(token)),
    );
  return path === undefined ? undefined : { kind: 'read', path };
}

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

const leadIn =
  /^(?:please\s+|can you\s+|could you\s+)*(?:what(?:'s|’s|\s+is|\s+are)?|how much\s+is|calculate|compute|work\s+out|evaluate|solve|tell\s+me|give\s+me|find|the\s+result\s+of|the\s+value\s+of|the|is|\s)*\s*/i;

/**
 * Arithmetic is what consists of numbers, operators and known functions only, once the words around
 * it are gone.
 */
function parseCalculation(clause: string): Request | undefined {
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
