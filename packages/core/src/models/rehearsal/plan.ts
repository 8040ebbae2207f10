import { defined } from '../../base/defined.ts';
import { isPlainObject, type JsonObject } from '../../base/json.ts';
import {
  capabilities,
  describeFiles,
  describeMatches,
  describeText,
  disclaimer,
  formatNumber,
} from './answer.ts';
import { type Evidence, type Outcome, ToolNotOffered, type WantedCall } from './evidence.ts';
import type { Finding } from './finding.ts';
import { planTable } from './plan-table.ts';
import type { FollowUpRequest, Request } from './request.ts';

export type NextStep =
  | { readonly kind: 'call'; readonly calls: readonly WantedCall[] }
  | { readonly kind: 'answer'; readonly text: string };

/**
 * Decides the next round from the requests and from what is known: the calls still to be made, or
 * the answer.
 */
export function planNextStep(requests: readonly Request[], evidence: Evidence): NextStep {
  if (requests.length === 0) return { kind: 'answer', text: capabilities };
  const findings: Found[] = [];
  for (const request of requests)
    findings.push({ request, finding: attempt(() => planOne(request, findings, evidence)) });
  const { wanted } = evidence;
  if (wanted.length > 0) return { kind: 'call', calls: wanted };
  return {
    kind: 'answer',
    text: [...findings.flatMap(({ finding }) => finding?.text ?? []), disclaimer].join('\n'),
  };
}

interface Found {
  readonly request: Request;
  readonly finding: Finding | undefined;
}

/** Kinds of requests that "15% of it" does not refer to. */
const aside: ReadonlySet<Request['kind']> = new Set(['followUp', 'unclear', 'unread']);

function planOne(
  request: Request,
  before: readonly Found[],
  evidence: Evidence,
): Finding | undefined {
  switch (request.kind) {
    case 'followUp':
      // Several percentages refer to the same total.
      return planFollowUp(
        request,
        before.findLast((found) => !aside.has(found.request.kind)),
        evidence,
      );
    case 'combine':
      return planCombination(before.slice(-request.count), evidence);
    case 'unclear':
      return { text: `I did not understand "${request.text}".` };
    case 'unread':
      return { text: `I read only the first ${request.from} characters of the message.` };
    default:
      return planRequest(request, evidence);
  }
}

/** The sum of the numbers found for several states, as in "unpaid and overdue". */
function planCombination(parts: readonly Found[], evidence: Evidence): Finding | undefined {
  if (parts.some(({ finding }) => finding === undefined)) return undefined;
  const numbers = parts.flatMap(({ finding }) => finding?.number ?? []);
  if (numbers.length < parts.length) return { text: 'So they cannot be added up.' };
  const expression = numbers.map(formatNumber).join(' + ');
  return calculate(expression, expression, evidence);
}

function attempt(plan: () => Finding | undefined): Finding | undefined {
  try {
    return plan();
  } catch (error) {
    if (error instanceof ToolNotOffered)
      return { text: `I would need the tool ${error.tool} for this, and it is not offered to me.` };
    throw error;
  }
}

function planRequest(
  request: Exclude<Request, { readonly kind: 'followUp' | 'combine' | 'unclear' | 'unread' }>,
  evidence: Evidence,
): Finding | undefined {
  switch (request.kind) {
    case 'table':
      return planTable(request, evidence);
    case 'calculate':
      return calculate(request.expression, request.expression, evidence);
    case 'time':
      return planTime(request.place, evidence);
    case 'list':
      return planList(request, evidence);
    case 'read':
      return ask(evidence, 'readFile', { path: request.path }, `read ${request.path}`, (value) =>
        describeText(request.path, textIn(value)),
      );
    case 'tool':
      return ask(evidence, request.name, request.args, `use ${request.name}`, (value) =>
        describeText(request.name, textIn(value)),
      );
    case 'search':
      return planSearch(request, evidence);
    case 'fetch':
      return ask(evidence, 'fetchUrl', { url: request.url }, `fetch ${request.url}`, (value) =>
        describeText(request.url, textIn(value)),
      );
  }
}

/** Makes one call and describes its outcome. */
function ask(
  evidence: Evidence,
  tool: string,
  args: JsonObject,
  purpose: string,
  describe: (value: unknown) => string,
): Finding | undefined {
  const outcome = evidence.lookUp(tool, args);
  return outcome === undefined ? undefined : describeOutcome(outcome, purpose, describe);
}

function describeOutcome(
  outcome: Outcome,
  purpose: string,
  describe: (value: unknown) => string,
): Finding {
  return {
    text: outcome.ok ? describe(outcome.value) : `I could not ${purpose}: ${outcome.problem}`,
  };
}

function calculate(expression: string, label: string, evidence: Evidence): Finding | undefined {
  const outcome = evidence.lookUp('calculate', { expression });
  if (outcome === undefined) return undefined;
  if (!outcome.ok) return { text: `I could not calculate ${label}: ${outcome.problem}` };
  const result = isPlainObject(outcome.value) ? outcome.value['result'] : outcome.value;
  if (typeof result !== 'number') return { text: `${label} is ${String(result)}.` };
  return {
    text:
      `${label} ${/[a-z]/i.test(label) || label.includes('%') ? 'is' : '='} ` +
      `${formatNumber(result)}.`,
    number: Number(formatNumber(result)),
  };
}

function planFollowUp(
  request: FollowUpRequest,
  before: Found | undefined,
  evidence: Evidence,
): Finding | undefined {
  if (before !== undefined && before.finding === undefined) return undefined;
  const base = before === undefined ? evidence.earlierNumber : before.finding?.number;
  if (base === undefined) {
    const calculation = request.label.replace('#', 'it');
    return {
      text:
        before === undefined
          ? `There is no earlier number to take for ${calculation}.`
          : `So there is no number for ${calculation}.`,
    };
  }
  const number = formatNumber(base);
  return calculate(
    request.expression.replace('#', number),
    request.label.replace('#', number),
    evidence,
  );
}

function planTime(place: string | undefined, evidence: Evidence): Finding | undefined {
  const timeZone = place === undefined ? undefined : timeZoneOf(place);
  if (place !== undefined && timeZone === undefined)
    return { text: `I do not know the time zone of ${place}. Name one such as Europe/Paris.` };
  return ask(evidence, 'currentTime', defined({ timeZone }), 'find out the time', (value) => {
    const time = isPlainObject(value) ? (value['text'] ?? value['iso']) : value;
    return `It is ${String(time)}${place === undefined ? '' : ` in ${place}`}.`;
  });
}

/** A zone by its own name, or by the city that it is named after. */
function timeZoneOf(place: string): string | undefined {
  const wanted = place.replaceAll(' ', '_').toLowerCase();
  if (wanted === 'utc' || wanted === 'gmt') return 'UTC';
  return Intl.supportedValuesOf('timeZone').find(
    (zone) => zone.toLowerCase() === wanted || zone.toLowerCase().endsWith(`/${wanted}`),
  );
}

function planList(request: Request & { kind: 'list' }, evidence: Evidence): Finding | undefined {
  const { path, extension } = request;
  const args = {
    ...defined({ path }),
    ...(extension === undefined ? {} : { pattern: `**/*.${extension}` }),
  };
  const place = path === undefined ? 'here' : `in ${path}`;
  return ask(evidence, 'listFiles', args, `list the files ${place}`, (value) =>
    describeFiles(place, value),
  );
}

function planSearch(
  request: Request & { kind: 'search' },
  evidence: Evidence,
): Finding | undefined {
  const { query, path } = request;
  const place = path === undefined ? 'here' : `in ${path}`;
  const args = { query, ...defined({ path }) };
  return ask(evidence, 'searchFiles', args, `search ${place}`, (value) =>
    describeMatches(query, place, value),
  );
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isPlainObject(value))
    for (const key of ['text', 'body', 'content'])
      if (typeof value[key] === 'string') return value[key];
  return JSON.stringify(value, undefined, 2) ?? '';
}
