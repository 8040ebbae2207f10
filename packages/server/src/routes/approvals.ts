import { isAdjutantError, type RequestAnswer, type RequestEntry } from 'adjutant';
import { defined } from 'adjutant/text';
import { isBegunBefore } from '../http/new-id.ts';
import type { AddRoutes, Api } from '../http/parts.ts';
import { problemOf } from '../http/problem.ts';
import { reachableSession } from '../http/reachable.ts';
import { isRequestInReach, reachableRequest } from '../http/reachable-request.ts';
import { readRequestCursor, writeRequestCursor } from '../http/request-cursor.ts';
import { addRoute, type RouteInput } from '../http/route.ts';
import {
  type AnswerJson,
  answerSchema,
  batchSchema,
  type OutcomesJson,
  outcomesSchema,
  type RequestJson,
  type RequestQueryJson,
  requestListSchema,
  requestParamsSchema,
  requestQuerySchema,
  requestSchema,
  standingListSchema,
  withdrawalSchema,
  withdrawnSchema,
} from '../schemas/approval.ts';
import { sessionPathSchema } from '../schemas/common.ts';

type Input = Pick<
  RouteInput<unknown, unknown, unknown>,
  'app' | 'principal' | 'context' | 'requestId'
>;

const tag = 'Approvals';

/** Adds the routes that list, show and answer pending requests. */
export const addApprovalRoutes: AddRoutes = (api) => {
  addList(api);
  addGet(api);
  addAnswer(api);
  addBatch(api);
  addStanding(api);
  addWithdrawal(api);
};

function addList(api: Api): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/approvals',
      permission: 'read',
      operationId: 'listRequests',
      tag,
      summary: 'What waits for somebody, in the order in which it was asked for',
      query: requestQuerySchema,
      answers: { 200: { description: 'A page of requests.', schema: requestListSchema } },
    },
    async (input) => {
      const { requests, next } = await reachableRequests(input, input.query);
      return {
        status: 200,
        body: {
          requests: requests.map(jsonOf),
          ...(next === undefined ? {} : { cursor: writeRequestCursor(next) }),
        },
      };
    },
  );
}

/** Pages of the store that one page for a caller with few sessions is made of. */
const mostReads = 20;

/**
 * The first requests of a query that the caller may know of. @returns `next`: the last one that was
 * looked at, unless there is nothing behind it
 */
async function reachableRequests(
  input: Input,
  query: RequestQueryJson,
): Promise<{
  readonly requests: readonly RequestEntry[];
  readonly next?: RequestEntry | undefined;
}> {
  const { kind, status, session, limit } = query;
  const { app, principal } = input;
  const user = principal.user ?? query.user;
  if (query.user !== undefined && query.user !== user) return { requests: [] };
  const filter = {
    ...(kind === undefined ? {} : { kinds: [kind] }),
    ...(status === 'all' ? {} : { status }),
    ...defined({ session, user }),
    // One more than is wanted tells whether there is another page.
    limit: limit + 1,
  };
  const inReach = new Map<string, Promise<boolean>>();
  const requests: RequestEntry[] = [];
  const start = startOf(query);
  let last: RequestEntry | undefined;
  for (let reads = 0; reads < mostReads; reads++) {
    const after = last ?? start;
    const page = await app.requests.list({ ...filter, ...defined({ after }) });
    for (const entry of page) {
      if (requests.length === limit) return { requests, next: last };
      const known = inReach.get(entry.session) ?? isRequestInReach(input, entry);
      inReach.set(entry.session, known);
      if (await known) requests.push(entry);
      last = entry;
    }
    if (page.length <= limit) return { requests };
  }
  return { requests, next: last };
}

/** Place behind which a list begins: no id comes before the empty one. */
function startOf({ cursor, from }: RequestQueryJson) {
  if (cursor !== undefined) return readRequestCursor(cursor);
  return from === undefined ? undefined : { createdAt: from, requestId: '' };
}

function addGet(api: Api): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/approvals/{request}',
      permission: 'read',
      operationId: 'getRequest',
      tag,
      summary: 'One request',
      params: requestParamsSchema,
      answers: { 200: { description: 'The request.', schema: requestSchema } },
    },
    async (input) => ({
      status: 200,
      body: jsonOf(await reachableRequest(input, input.params.request)),
    }),
  );
}

function addAnswer(api: Api): void {
  addRoute(
    api,
    {
      method: 'post',
      path: '/v1/approvals/{request}',
      permission: 'operate',
      operationId: 'answerRequest',
      tag,
      summary: 'Answers a request',
      description:
        'Of all answers, expiries and cancels exactly one settles a request; the others ' +
        'get `request_settled`, which says who was first. An answer that does not fit ' +
        'leaves the request pending. The run goes on by itself, in whatever process has it.',
      params: requestParamsSchema,
      body: answerSchema,
      answers: { 200: { description: 'The request as it was settled.', schema: requestSchema } },
    },
    async (input) => {
      const { request } = input.params;
      await answer(input, request, input.body);
      return { status: 200, body: jsonOf(await input.app.requests.get(request)) };
    },
  );
}

function addBatch(api: Api): void {
  addRoute(
    api,
    {
      method: 'post',
      path: '/v1/approvals',
      permission: 'operate',
      operationId: 'answerRequests',
      tag,
      summary: 'Answers several requests, each by itself',
      description: 'What is wrong with one answer does not stop the others: each has its outcome.',
      body: batchSchema,
      answers: { 200: { description: 'What became of each answer.', schema: outcomesSchema } },
    },
    async (input) => {
      const outcomes = await Promise.all(
        input.body.answers.map(({ requestId, ...said }) => outcomeOf(input, requestId, said)),
      );
      return { status: 200, body: { outcomes } };
    },
  );
}

function addStanding(api: Api): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/sessions/{session}/standing-approvals',
      permission: 'read',
      operationId: 'listStanding',
      tag,
      summary: 'The approvals of a session that hold for later calls, oldest first',
      params: sessionPathSchema,
      answers: { 200: { description: 'Those that hold.', schema: standingListSchema } },
    },
    async (input) => {
      const { id } = await reachableSession(input, input.params.session);
      const approvals = await input.app.requests.standing(id);
      return { status: 200, body: { approvals: [...approvals] } };
    },
  );
}

function addWithdrawal(api: Api): void {
  addRoute(
    api,
    {
      method: 'post',
      path: '/v1/approvals/{request}/withdraw',
      permission: 'operate',
      operationId: 'withdrawStanding',
      tag,
      summary: 'Takes an approval back that holds for later calls',
      description: 'Later calls are asked about again. Calls that were made stay made.',
      params: requestParamsSchema,
      body: withdrawalSchema,
      isBodyOptional: true,
      answers: { 202: { description: 'It is stored', schema: withdrawnSchema } },
    },
    async (input) => {
      const { request } = input.params;
      await reachableRequest(input, request);
      const { reason } = input.body;
      await input.app.requests.withdraw(request, {
        by: input.principal.actor,
        ...defined({ reason }),
      });
      return { status: 202, body: { requestId: request, status: 'accepted' as const } };
    },
  );
}

async function outcomeOf(
  input: Input,
  requestId: string,
  said: AnswerJson,
): Promise<OutcomesJson['outcomes'][number]> {
  try {
    await answer(input, requestId, said);
    return { requestId, accepted: true };
  } catch (error) {
    const problem = problemOf(error, input.requestId);
    // An internal fault is no outcome: the whole request can be sent again.
    if (problem.status >= 500) throw error;
    return { requestId, accepted: false, problem: { ...problem } };
  }
}

/**
 * Answers in the caller's name.
 * @throws as `app.requests.answer`, for requests in the caller's reach
 */
async function answer(
  input: Input,
  requestId: string,
  { always, decision, input: given, args, reason }: AnswerJson,
): Promise<void> {
  const { app, principal } = input;
  await reachableRequest(input, requestId);
  const value = given === undefined ? args : given;
  const said = {
    by: principal.actor,
    ...defined({ always, decision, input: value, reason }),
  } as RequestAnswer;
  try {
    await app.requests.answer(requestId, said);
  } catch (error) {
    if (!isOwnEarlierAnswer(input, error)) throw error;
  }
}

/** True when the first attempt of a repeated request settled it. */
function isOwnEarlierAnswer(input: Input, error: unknown): boolean {
  if (!isBegunBefore(input) || !isAdjutantError(error, 'request_settled')) return false;
  return error.data['status'] === 'answered' && error.data['by'] === input.principal.actor;
}

function jsonOf(entry: RequestEntry): RequestJson {
  return entry as RequestJson;
}
