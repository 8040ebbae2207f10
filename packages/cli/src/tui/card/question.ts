import type { JsonObject, JsonValue } from 'adjutant';
import { formatCost, formatCount, formatMoment, formatTokens } from '../../output/format.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import { callSpans } from '../screens/call-lines.ts';
import { lineSpans } from '../screens/layout.ts';
import type { Span } from '../text/spans.ts';

/** True when the summary is no call as `name({…})`, but words of the tool. */
export function hasOwnSummary(summary: string, name: string): boolean {
  return !summary.startsWith(`${name}(`);
}

/** Returns the question of a request: what an agent wants, or what somebody has to say. */
export function questionSpans(request: OpenRequest, now: number): Span[] {
  const { kind, name, args, details } = request;
  const agent = lineSpans(details.agent, { bold: true }, 'requestLine');
  const summary = lineSpans(details.summary, {}, 'requestLine');
  if (kind === 'limit') return limitSpans(request, agent) ?? summary;
  if (isUnknownOutcome(request)) return unknownSpans(request, now);
  if (kind === 'input' && !hasOwnSummary(details.summary, name))
    return [...callSpans(name, args), { text: ' needs input' }];
  if (kind !== 'approval') return summary;
  return hasOwnSummary(details.summary, name)
    ? [...agent, { text: ' asks: ' }, ...summary]
    : [...agent, { text: ' wants to call ' }, ...callSpans(name, args)];
}

/** True when nobody knows what became of a call. */
export function isUnknownOutcome({ kind, details }: OpenRequest): boolean {
  return kind === 'recovery' && objectOf(details.details)['escalated'] !== true;
}

/** True for a limit that the question names whole. */
export function isUsedUpLimit({ details }: OpenRequest): boolean {
  return limitAmount(details.details) !== undefined;
}

function unknownSpans({ name, args, begunAt, askedAt }: OpenRequest, now: number): Span[] {
  const since = formatMoment(begunAt ?? askedAt, now);
  return [
    { text: 'Did ' },
    ...callSpans(name, args),
    { text: ` happen? Its outcome is unknown since ${since}.` },
  ];
}

function limitSpans({ details }: OpenRequest, agent: readonly Span[]): Span[] | undefined {
  const amount = limitAmount(details.details);
  return amount === undefined ? undefined : [...agent, { text: ` has used its ${amount}.` }];
}

/** Words of the key that lets an agent go on: the limit is raised by its own amount. */
export function moreWords({ details }: OpenRequest): string {
  const amount = limitAmount(details.details);
  return amount === undefined ? 'go on' : `${amount.replace(/ rounds?$/, '')} more`;
}

/** The limit that is used up, with its unit. */
function limitAmount(details: JsonValue | undefined): string | undefined {
  const { reason, limit } = objectOf(details);
  if (typeof limit !== 'number') return undefined;
  switch (reason) {
    case 'round_limit':
      return formatCount(limit, 'round');
    case 'token_limit':
      return `${formatTokens(limit)} tokens`;
    case 'cost_limit':
      return formatCost(limit);
    case 'error_limit':
      return formatCount(limit, 'failure');
    default:
      return undefined;
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as JsonObject)
    : {};
}
