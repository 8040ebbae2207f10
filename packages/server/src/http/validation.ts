import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { assertLengths } from './body-check.ts';
import { unknownMembers } from './known-members.ts';
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
  /** Names of members that the schema does not have. */
  readonly keys?: readonly string[];
}

/** Names under which people send what is not text. */
const messageParts: ReadonlySet<string> = new Set([
  'parts',
  'content',
  'files',
  'images',
  'attachments',
]);

const places: Readonly<Record<string, string>> = {
  json: 'body',
  param: 'path',
  query: 'query',
  header: 'headers',
};

/**
 * Largest number of faults in an answer. A body can have many; its sender learns of the first ones.
 */
const mostIssues = 20;
const longestMessage = 300;

/**
 * Answers what does not fit a route's schemas, with the place of each fault and without the values.
 */
export function refuseInvalid(
  result: Validated,
  context: Context<ServerEnv>,
): Response | undefined {
  if (result.success) return undefined;
  return problemResponse(
    refusalOf(
      result.error?.issues ?? [],
      places[result.target] ?? result.target,
      result.target === 'json' ? context.var.bodySchema : undefined,
    ),
    context.var.requestId,
  );
}

/**
 * Checks a part of a body that its schema leaves open.
 * @param path of the part, as `body.messages.3`
 * @throws RequestRefusedError `invalid_request` (400)
 */
export function assertFits<Value>(schema: z.ZodType<Value>, value: unknown, path: string): Value {
  assertLengths(schema, value, path);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refusalOf(parsed.error.issues, path, schema);
}

/** @param schema of the whole value, if it is known */
function refusalOf(
  found: readonly Issue[],
  place: string,
  schema?: z.ZodType,
): RequestRefusedError {
  const issues = found.slice(0, mostIssues).map((issue) => ({
    path: [place, ...issue.path.map(String)].join('.'),
    message: messageOf(issue, issue.path.length === 0 ? schema : undefined),
  }));
  return new RequestRefusedError(
    400,
    'invalid_request',
    `The request does not fit: ${toldOf(issues)}.`,
    { issues },
  );
}

function toldOf(issues: readonly { readonly path: string; readonly message: string }[]): string {
  return issues
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
}

/** The first faults of a value in one text. */
export function faultsOf(issues: readonly Issue[]): string {
  return toldOf(
    issues
      .slice(0, mostIssues)
      .map((issue) => ({ path: issue.path.map(String).join('.'), message: messageOf(issue) })),
  );
}

/**
 * Returns a message for callers. The library of the schemas words missing values and numbers as
 * code does.
 */
function messageOf({ message, keys = [] }: Issue, schema?: z.ZodType): string {
  if (keys.some((key) => messageParts.has(key)))
    return `${message}: a message is text, and files and images do not reach the model`;
  const unknown = unknownMembers(keys, schema);
  if (unknown !== undefined) return unknown;
  if (/ received undefined$/.test(message)) return 'is missing';
  if (/ received NaN$/.test(message)) return 'must be a number, given once';
  return message.length > longestMessage ? `${message.slice(0, longestMessage - 1)}…` : message;
}
