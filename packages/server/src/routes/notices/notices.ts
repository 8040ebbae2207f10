import { isAdjutantError, type Runtime } from 'adjutant';
import type { NotificationService } from 'adjutant/notifications';
import { defined } from 'adjutant/text';
import type { Principal } from '../../access/principal.ts';
import { newId } from '../../http/new-id.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { reachableSession } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import {
  type NoticeAnswer,
  newNoticeSchema,
  noticePageSchema,
  noticesQuerySchema,
  storedNoticeSchema,
} from '../../schemas/notice.ts';
import { noticeStreamResponse } from '../../stream/notice-stream.ts';

const tag = 'Notices';

const sendNotice = defineRoute({
  method: 'post',
  path: '/v1/notices',
  permission: 'operate',
  operationId: 'sendNotice',
  tag,
  summary: 'Sends a notice to a user, by the channels of the app',
  description:
    'It is stored, and sent when quiet hours and the interval of the user allow it. A credential ' +
    'that is bound to a user sends to this one only.',
  body: newNoticeSchema,
  answers: { 202: { description: 'The notice is stored', schema: storedNoticeSchema } },
});

const listNotices = defineRoute({
  method: 'get',
  path: '/v1/notices',
  permission: 'read',
  operationId: 'listNotices',
  tag,
  summary: 'Notices of a user and what has become of each, the newest first',
  description:
    'A notice is listed once a process of the app has taken it in. A credential that is bound to ' +
    'a user reads those of this one only; one that is bound to agents reads none, as notices ' +
    'are about all of them.',
  query: noticesQuerySchema,
  answers: { 200: { description: 'The notices', schema: noticePageSchema } },
});

const streamNotices = defineRoute({
  method: 'get',
  path: '/v1/notices/stream',
  permission: 'read',
  operationId: 'streamNotices',
  tag,
  summary: 'Notices of the signed-in user, as they are sent',
  description:
    'Each is the event `notice` with the notice as its data; `missed` counts those that a slow ' +
    'reader has lost. It begins with what is sent from now on, and stays open. For a credential ' +
    'that is bound to a user, of a server with the option `notices`.',
  answers: {
    200: { description: 'The notices, as server-sent events', contentType: 'text/event-stream' },
  },
});

/** Notices: sent, listed, and shown on open pages. */
export const addNoticeRoutes: AddRoutes = (api, parts) => {
  addRoute(api, sendNotice, async (input) => {
    const { app, body, principal } = input;
    const service = notificationsOf(app);
    if (principal.user !== undefined && body.user !== principal.user) throw otherUser();
    if (body.about !== undefined) await reachableSession(input, body.about.session);
    const { about, actions, id = newId(input, 'notice'), title, user, ...rest } = body;
    const more = { about: about && defined(about), actions };
    const sent = await service.send({ user, title, id, ...defined({ ...rest, ...more }) });
    return { status: 202, body: sent };
  });
  addRoute(api, listNotices, async (input) => {
    const { limit, cursor } = input.query;
    const service = notificationsOf(input.app);
    const page = await service.list(readableUser(input), { limit, cursor });
    const notices = page.notices as readonly NoticeAnswer[];
    return { status: 200, body: { notices: [...notices], ...defined({ cursor: page.cursor }) } };
  });
  addRoute(api, streamNotices, (input) => noticeStreamResponse(parts, input));
};

/**
 * Notices of an app.
 * @throws RequestRefusedError `notifications_unavailable` (409)
 */
function notificationsOf(app: Runtime): NotificationService {
  try {
    return app.notifications;
  } catch (error) {
    if (!isAdjutantError(error, 'invalid_runtime')) throw error;
    throw new RequestRefusedError(
      409,
      'notifications_unavailable',
      'This app sends no notices: give its runtime the option `notifications`.',
    );
  }
}

/**
 * The user whose notices a caller reads.
 * @throws RequestRefusedError `other_user`, `user_needed` (403)
 */
function readableUser({
  principal: { agents, user: own },
  query,
}: {
  readonly principal: Pick<Principal, 'agents' | 'user'>;
  readonly query: { readonly user?: string | undefined };
}): string {
  const user = query.user ?? own;
  if (agents !== undefined || user === undefined)
    throw new RequestRefusedError(
      403,
      'user_needed',
      'Notices belong to people: name one as `user`, or take a credential that is bound to one. ' +
        'It must not be bound to agents.',
    );
  if (own !== undefined && user !== own) throw otherUser();
  return user;
}

function otherUser(): RequestRefusedError {
  return new RequestRefusedError(
    403,
    'other_user',
    'Your credential is bound to a user: you can send and read the notices of this one only.',
  );
}
