import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import type { Runtime } from 'adjutant';
import { defined } from 'adjutant/text';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { guard } from '../access/guard.ts';
import type { Permission, Principal } from '../access/principal.ts';
import { checkForm } from './body-check.ts';
import type { Api, RepeatedAnswer, ServerEnv } from './parts.ts';
import { problemType } from './problem.ts';

/** One answer of a route. */
export interface AnswerDefinition<Answer> {
  readonly description: string;
  /** Of a JSON answer; missing for answers without a body or with another media type. */
  readonly schema?: z.ZodType<Answer>;
  /** Media type of an answer that is not JSON. */
  readonly contentType?: string;
  /** Descriptions of the headers by their names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route: what validates, what is documented and what is checked before it is called. */
export interface RouteDefinition<Params, Query, Body, Answer> {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** With parameters in braces: `/v1/sessions/{session}`. */
  readonly path: string;
  /** Permission that the caller needs; `public`: anybody may call. */
  readonly permission: Permission | 'public';
  /** Unique; what generated clients name the call. */
  readonly operationId: string;
  readonly tag: string;
  /** One line. */
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** True when a request without a body counts as one with an empty object. @default false */
  readonly isBodyOptional?: boolean;
  /** By status. Refusals and faults are problems, unless a route says otherwise. */
  readonly answers: { readonly [Status in number]: AnswerDefinition<Answer> } & {
    readonly '4XX'?: AnswerDefinition<never>;
    readonly '5XX'?: AnswerDefinition<never>;
  };
  /** Answer to a request that is sent again under its `Idempotency-Key`. @default 'same' */
  readonly repeated?: RepeatedAnswer;
}

/** Input of a route. */
export interface RouteInput<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The app of the caller's tenant. */
  readonly app: Runtime;
  readonly principal: Principal;
  readonly requestId: string;
  readonly request: Request;
  readonly context: Context<ServerEnv>;
}

/** A JSON answer. */
export interface Reply<Answer> {
  readonly status: ContentfulStatusCode;
  readonly body: Answer;
  readonly headers?: Readonly<Record<string, string>>;
}

type MaybePromise<Value> = Value | Promise<Value>;

const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    instance: z.string().optional(),
    data: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('Problem', {
    description: 'What went wrong, as RFC 9457 has it. Switch on `code`, which is stable.',
  });

const problemAnswer = {
  description: 'What went wrong',
  content: { [problemType]: { schema: problemSchema } },
};

/** Under which name the document describes the header `Idempotency-Key`. */
export const idempotencyParameter = 'IdempotencyKey';

/** True when the same request under the same key gets the same answer. */
function isKept({
  method,
  permission,
}: {
  readonly method: string;
  readonly permission: string;
}): boolean {
  return method !== 'get' && permission !== 'public';
}

/** Where a route's permission stands in the OpenAPI document. */
const permissionExtension = 'x-permission';

function responseOf({
  description,
  schema,
  contentType,
  headers = {},
}: AnswerDefinition<unknown>): object {
  const content =
    schema !== undefined
      ? { 'application/json': { schema } }
      : contentType !== undefined
        ? { [contentType]: { schema: z.string() } }
        : undefined;
  const told = Object.entries(headers).map(([name, about]) => [
    name,
    { description: about, schema: { type: 'string' } },
  ]);
  return {
    description,
    ...(told.length === 0 ? {} : { headers: Object.fromEntries(told) }),
    ...defined({ content }),
  };
}

function configOf<Params, Query, Body, Answer>(
  route: RouteDefinition<Params, Query, Body, Answer>,
): RouteConfig {
  const {
    method,
    path,
    permission,
    operationId,
    tag,
    summary,
    description,
    params,
    query,
    body,
    isBodyOptional = false,
    answers,
  } = route;
  const responses = Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)]),
  );
  return createRoute({
    method,
    path,
    operationId,
    tags: [tag],
    summary,
    ...defined({ description }),
    [permissionExtension]: permission,
    ...(isKept(route)
      ? { parameters: [{ $ref: `#/components/parameters/${idempotencyParameter}` }] }
      : {}),
    // Before the input is checked: a caller without permission does not learn what a valid call is.
    middleware:
      body === undefined
        ? guard(permission, operationId)
        : [guard(permission, operationId), checkForm(body)],
    security: permission === 'public' ? [] : [{ bearer: [] }],
    request: {
      ...defined({ params, query }),
      ...(body === undefined
        ? {}
        : {
            body: { required: !isBodyOptional, content: { 'application/json': { schema: body } } },
          }),
    },
    responses: { '4XX': problemAnswer, '5XX': problemAnswer, ...responses },
  } as unknown as RouteConfig);
}

/** A route that stands by itself, with its types. */
export function defineRoute<
  Params = undefined,
  Query = undefined,
  Body = undefined,
  Answer = undefined,
>(
  route: RouteDefinition<Params, Query, Body, Answer>,
): RouteDefinition<Params, Query, Body, Answer> {
  return route;
}

/**
 * Adds a route to a server. What comes in is valid and its caller is allowed to call; what is
 * thrown becomes a problem.
 * @param handle gives the JSON answer, or a response of its own
 */
export function addRoute<
  Params = undefined,
  Query = undefined,
  Body = undefined,
  Answer = undefined,
>(
  api: Api,
  route: RouteDefinition<Params, Query, Body, Answer>,
  handle: (input: RouteInput<Params, Query, Body>) => MaybePromise<Reply<Answer> | Response>,
): void {
  const config = configOf(route);
  const loose = api as {
    openapi(config: RouteConfig, handler: (context: Context<ServerEnv>) => Promise<Response>): void;
  };
  loose.openapi(config, async (context) => {
    const { req } = context;
    const valid = (part: 'param' | 'query' | 'json'): unknown =>
      (req as { valid(part: string): unknown }).valid(part);
    const { requestId, principal, app } = context.var;
    const input: RouteInput<Params, Query, Body> = {
      params: (route.params === undefined ? undefined : valid('param')) as Params,
      query: (route.query === undefined ? undefined : valid('query')) as Query,
      body: (route.body === undefined ? undefined : valid('json')) as Body,
      app,
      principal,
      requestId,
      request: req.raw,
      context,
    };
    const make = async (): Promise<Response> => {
      const answer = await handle(input);
      return answer instanceof Response
        ? answer
        : context.json(answer.body as object, answer.status, answer.headers);
    };
    // Anybody may call a public route: nobody's key may stand in the way of another caller.
    return context.var.answerOnce === undefined || !isKept(route)
      ? make()
      : context.var.answerOnce(make, route.repeated ?? 'same');
  });
}
