import type { Context } from 'hono';
import type { ServerEnv } from './parts.ts';
import { problemResponse, RequestRefusedError } from './problem.ts';

interface Validated {
  readonly success: boolean;
  readonly target: string;
  readonly error?: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] };
}

const places: Readonly<Record<string, string>> = { json: 'body', param: 'path', query: 'query', header: 'headers' };

/** Answers what does not fit a route's schemas, with the place of each fault and without the values. */
export function refuseInvalid(result: Validated, context: Context<ServerEnv>): Response | undefined {
  if (result.success) return undefined;
  const issues = (result.error?.issues ?? []).map(({ path, message }) => ({
    path: [places[result.target] ?? result.target, ...path.map(String)].join('.'),
    message,
  }));
  const told = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return problemResponse(new RequestRefusedError(400, 'invalid_request', `The request does not fit: ${told}.`, { issues }), context.var.requestId);
}
