import type { z } from '@hono/zod-openapi';
import { isAdjutantError, type SessionListing, type SessionPage } from 'adjutant';
import { defined } from 'adjutant/text';
import { isBegunBefore, newId } from '../http/new-id.ts';
import type { AddRoutes, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { type Asking, addressOf, isReachable, reachableSession } from '../http/reachable.ts';
import { addRoute, defineRoute, type RouteInput } from '../http/route.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import {
  deleteQuerySchema,
  newSessionSchema,
  type SessionAnswer,
  sessionDetailsSchema,
  sessionPageSchema,
  sessionQuerySchema,
  sessionSchema,
} from '../schemas/session.ts';

const tag = 'Sessions';
/** Requests that are counted of one session. */
const mostCounted = 1_000;
/** Pages of the store that one page for a caller with few agents is made of. */
const mostReads = 20;

type NewSession = z.infer<typeof newSessionSchema>;
type SessionQuery = z.infer<typeof sessionQuerySchema>;

const createSession = defineRoute({
  method: 'post',
  path: '/v1/sessions',
  permission: 'operate',
  operationId: 'createSession',
  tag,
  summary: 'Makes a session',
  body: newSessionSchema,
  answers: {
    201: {
      description: 'The session is stored',
      schema: sessionSchema,
      headers: { Location: 'Address of the session.' },
    },
  },
});

const listSessions = defineRoute({
  method: 'get',
  path: '/v1/sessions',
  permission: 'read',
  operationId: 'listSessions',
  tag,
  summary: 'Sessions, newest first',
  description:
    'A session that changes while pages are read moves to the front of the order by ' +
    '`updatedAt`; in the order by `createdAt` none is missed. ' +
    'A page can have fewer sessions than its limit and still not be the last one: that is ' +
    'the one without a `cursor`.',
  query: sessionQuerySchema,
  answers: { 200: { description: 'A page of sessions', schema: sessionPageSchema } },
});

const getSession = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}',
  permission: 'read',
  operationId: 'getSession',
  tag,
  summary: 'One session',
  params: sessionPathSchema,
  answers: { 200: { description: 'The session', schema: sessionDetailsSchema } },
});

const deleteSession = defineRoute({
  method: 'delete',
  path: '/v1/sessions/{session}',
  permission: 'operate',
  operationId: 'deleteSession',
  tag,
  summary: 'Removes a session for good',
  description:
    'Its events, its large values, what waits for an answer and what was sent to it go; ' +
    'its id is free at once. What its forks share stays until the last of them is gone, ' +
    'unless they are erased too. A run that is under way on it stops.',
  params: sessionPathSchema,
  query: deleteQuerySchema,
  answers: { 204: { description: 'It is gone' } },
});

type Removing = RouteInput<
  z.infer<typeof sessionPathSchema>,
  z.infer<typeof deleteQuerySchema>,
  unknown
>;

/** Deletes a session with all that this process, and the answers that are kept, know of it. */
async function removeSession({ kept, replays }: ServerParts, input: Removing): Promise<void> {
  const { app, params, principal, query } = input;
  try {
    const { id } = await reachableSession(input, params.session);
    await (query.erase ? app.sessions.erase(id) : app.sessions.delete(id));
    replays.forget({ app, session: id });
  } catch (error) {
    if (!isAdjutantError(error, 'session_not_found') || !isBegunBefore(input)) throw error;
    // One that is only out of reach is not gone.
    if ((await app.sessions.list({ id: params.session, limit: 1 })).sessions.length > 0)
      throw error;
  }
  // Also when a process has deleted the session and ended before this.
  await kept.forget(app.tenant, params.session, principal.actor);
}

const addCreateSession: AddRoutes = (api, parts) => {
  addRoute(api, createSession, async (input) => {
    const { body } = input;
    assertMayName(input, body);
    const user = ownUser(input, body);
    assertMayBind(input, body);
    if ((body.permissions ?? []).length > 0) assertMayGrant(parts, input);
    const id = body.id ?? newId(input, 'session');
    try {
      const { scopes, permissions } = body;
      await input.app.sessions.create({
        id,
        ...defined({ userId: user, scopes, permissions }),
        by: input.principal.actor,
      });
    } catch (error) {
      if (!isAdjutantError(error, 'session_exists') || !isBegunBefore(input)) throw error;
    }
    return made(input, id);
  });
};

const addListSessions: AddRoutes = (api, { replays }) => {
  addRoute(api, listSessions, async (input) => {
    const { principal, query, request } = input;
    const read = (): Promise<SessionPage> => reachablePage(input, query);
    // A search reads whole ledgers.
    const { sessions, cursor } = await (query.text === undefined
      ? read()
      : replays.answerInTurn(principal, request.signal, read));
    return {
      status: 200,
      body: { sessions: sessions.map(answerOf), ...defined({ cursor }) },
    };
  });
};

const addGetSession: AddRoutes = (api) => {
  addRoute(api, getSession, async (input) => {
    const listing = await reachableSession(input, input.params.session);
    const waiting = await input.app.requests.list({
      session: listing.id,
      status: 'pending',
      limit: mostCounted,
    });
    return { status: 200, body: { ...answerOf(listing), waiting: waiting.length } };
  });
};

const addDeleteSession: AddRoutes = (api, parts) => {
  addRoute(api, deleteSession, async (input) => {
    await removeSession(parts, input);
    return input.context.body(null, 204);
  });
};

/** Sessions: made, listed, looked at and deleted. */
export const addSessionRoutes: AddRoutes = (api, parts) => {
  for (const add of [addCreateSession, addListSessions, addGetSession, addDeleteSession])
    add(api, parts);
};

/**
 * Ids of sessions are those of a whole tenant: who could choose one would learn which ids others
 * have, and could take those that others are to get.
 * @throws RequestRefusedError `session_id_not_allowed` (400) for a caller that is bound to a user,
 * whether there is such a session or not
 */
export function assertMayName(
  { principal }: Pick<Asking, 'principal'>,
  { id }: { readonly id?: string | undefined },
): void {
  if (principal.user === undefined || id === undefined) return;
  throw new RequestRefusedError(
    400,
    'session_id_not_allowed',
    'A credential that is bound to a user cannot choose the id of a session. Leave `id` ' +
      'out: the server makes one, and the answer has it.',
  );
}

/**
 * Returns the user whose session the caller makes.
 * @throws RequestRefusedError `other_user` (403) for a caller that is bound to a user and names
 * another one
 */
export function ownUser(
  { principal }: Pick<Asking, 'principal'>,
  { user, scopes }: Pick<NewSession, 'user' | 'scopes'>,
): string | undefined {
  const wanted = user ?? scopes?.['user'];
  if (principal.user === undefined || wanted === undefined || wanted === principal.user)
    return wanted ?? principal.user;
  throw new RequestRefusedError(
    403,
    'other_user',
    'You can only make sessions of the user that your credential is bound to. Leave `user` out.',
  );
}

/**
 * A caller that acts for one user could otherwise read shared sessions, and give its runs more
 * permissions than the app does.
 */
function assertMayBind(
  { principal }: Pick<Asking, 'principal'>,
  { scopes = {}, permissions = [] }: NewSession,
): void {
  if (principal.user === undefined) return;
  const others = Object.keys(scopes).filter((scope) => scope !== 'user');
  if (others.length === 0 && permissions.length === 0) return;
  throw new RequestRefusedError(
    403,
    'bound_to_user',
    'A credential that is bound to a user can make sessions with neither `permissions` nor ' +
      'scopes of others. Have them made by one that is not bound.',
  );
}

/**
 * Checks that the caller may grant the permissions that tools require.
 * @throws RequestRefusedError `may_not_grant` (403)
 */
export function assertMayGrant(
  { options }: Pick<ServerParts, 'options'>,
  { principal }: Pick<Asking, 'principal'>,
): void {
  const { grantPermissions: allowed } = options;
  if (allowed.some((role) => principal.roles.includes(role))) return;
  throw new RequestRefusedError(
    403,
    'may_not_grant',
    'None of your roles may give a session permissions that its tools require. The option ' +
      '`auth.grantPermissions` of the server names those that may ' +
      `(${allowed.join(', ') || 'none'}).`,
    { roles: [...allowed] },
  );
}

/** Answers with a session that was made. */
export async function made(
  input: RouteInput<unknown, unknown, unknown>,
  id: string,
): Promise<{ status: 201; body: SessionAnswer; headers: { location: string } }> {
  const listing = await reachableSession(input, id);
  return { status: 201, body: answerOf(listing), headers: { location: addressOf(id) } };
}

function answerOf({
  id,
  status,
  title,
  runnable,
  user,
  seq,
  createdAt,
  updatedAt,
}: SessionListing): SessionAnswer {
  return {
    id,
    status,
    ...defined({ title, agent: runnable, user }),
    seq,
    createdAt,
    updatedAt,
  };
}

/**
 * A page of what the caller can reach: its cursor stands behind the last session that was looked
 * at.
 */
async function reachablePage(input: Asking, query: SessionQuery): Promise<SessionPage> {
  const { app, principal } = input;
  const { agent, user = principal.user, limit, cursor: first, status, order, text } = query;
  if (principal.user !== undefined && user !== principal.user) return { sessions: [] };
  const sessions: SessionListing[] = [];
  let cursor = first;
  // A search ends by itself when it has taken long.
  for (let reads = 0; reads < (text === undefined ? mostReads : 1); reads++) {
    const page = await app.sessions.list({
      order,
      limit: limit - sessions.length,
      ...defined({ status, runnable: agent, user, text, cursor }),
    });
    for (const listing of page.sessions)
      if (await isReachable(input, listing)) sessions.push(listing);
    cursor = page.cursor;
    if (cursor === undefined || sessions.length >= limit) break;
  }
  return { sessions, ...defined({ cursor }) };
}
