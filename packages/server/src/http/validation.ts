import type { Context } from 'hono';
import type { ServerEnv } from './parts.ts';
import { problemResponse, RequestRefusedError } from './problem.ts';

interface Validated {
  readonly success: boolean;
  readonly target: string;
  readonly error?: { readonly issues: readonly Issue[] };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const places: Readonly<Record<string, string>> = { json: 'body', param: 'path', query: 'query', header: 'headers' };

/** A body can be wrong in as many places as it has; its sender is told of the first ones. */
const mostIssues = 20;
const longestMessage = 300;

/** Answers what does not fit a route's schemas, with the place of each fault and without the values. */
export function refuseInvalid(result: Validated, context: Context<ServerEnv>): Response | undefined {
  if (result.success) return undefined;
  const found = result.error?.issues ?? [];
  const issues = found.slice(0, mostIssues).map((issue) => ({
    path: [places[result.target] ?? result.target, ...issue.path.map(String)].join('.'),
    message: messageOf(issue),
  }));
  const told = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return problemResponse(new RequestRefusedError(400, 'invalid_request', `The request does not fit: ${told}.`, { issues }), context.var.requestId);
}

/** What callers can be told: of what is missing and of numbers the schemas' library speaks as code does. */
function messageOf({ message }: Issue): string {
  if (/ received undefined$/.test(message)) return 'is missing';
  if (/ received NaN$/.test(message)) return 'must be a number, given once';
  return message.length > longestMessage ? `${message.slice(0, longestMessage - 1)}…` : message;
}
