import type { ForkOptions } from 'adjutant';
import { isAdjutantError } from 'adjutant';
import { defined } from 'adjutant/text';
import { isBegunBefore, newId } from '../../http/new-id.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { type Asking, reachableAgent, reachableSession } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import { type NewForkBody, newForkSchema } from '../../schemas/fork.ts';
import { sessionSchema } from '../../schemas/session.ts';
import { assertMayGrant, assertMayName, made } from '../sessions.ts';

const forkSession = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/fork',
  permission: 'operate',
  operationId: 'forkSession',
  tag: 'Sessions',
  summary: 'Makes a session that shares the beginning of another one',
  description:
    'It goes its own way from there. What was done in the shared part stays done. The ' +
    'store copies nothing. With `edit` it begins with another state, other instructions or ' +
    'another message.',
  params: sessionPathSchema,
  body: newForkSchema,
  isBodyOptional: true,
  answers: {
    201: {
      description: 'The fork is stored',
      schema: sessionSchema,
      headers: { Location: 'Address of the fork.' },
    },
  },
});

/** Adds the route that forks sessions. */
export const addForkRoutes: AddRoutes = (api, parts) => {
  addRoute(api, forkSession, async (input) => {
    const { app, body } = input;
    assertMayName(input, body);
    const { id: from } = await reachableSession(input, input.params.session);
    assertMayEdit(input, body);
    const id = body.id ?? newId(input, 'session');
    try {
      const { at, shared } = body;
      if (at !== undefined && (await isTakenBack(input, from, at))) assertMayGrant(parts, input);
      // The schema has checked it; the types of optional members differ.
      const edit = body.edit as ForkOptions['edit'];
      const options = defined({ at, shared, edit });
      await app.sessions.fork(from, { id, by: input.principal.actor, ...options });
    } catch (error) {
      if (!isAdjutantError(error, 'session_exists') || !isBegunBefore(input)) throw error;
    }
    return made(input, id);
  });
};

/**
 * Instructions and state are the app's: whoever acts for one user could otherwise give agents other
 * orders, and the app another state than it has made.
 * @throws RequestRefusedError `bound_to_user` (403), `agent_not_found` (404)
 */
function assertMayEdit(input: Asking, { edit }: NewForkBody): void {
  const { agent, instructions } = edit?.prompt ?? {};
  const isOfApp = instructions !== undefined || (edit?.state ?? []).length > 0;
  if (input.principal.user !== undefined && isOfApp)
    throw new RequestRefusedError(
      403,
      'bound_to_user',
      'A credential that is bound to a user can fork with another `message`, but neither with ' +
        'other `instructions` nor with another `state`. Have that done by one that is not bound.',
    );
  if (agent !== undefined) reachableAgent(input, agent);
}

/**
 * True when permissions of a session were revoked after this event: a fork from before it has them
 * again.
 */
async function isTakenBack({ app }: Asking, session: string, at: number): Promise<boolean> {
  for await (const event of app.sessions.events(session, { after: at })) {
    if (
      event.type === 'decision' &&
      event.component === 'permissions' &&
      event.decision === 'revoke'
    )
      return true;
  }
  return false;
}
