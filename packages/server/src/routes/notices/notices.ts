import { isAdjutantError, type Runtime } from 'adjutant';
import type { NotificationService } from 'adjutant/notifications';
import { defined } from 'adjutant/text';
import { newId } from '../../http/new-id.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { reachableSession } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { newNoticeSchema, storedNoticeSchema } from '../../schemas/notice.ts';
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

/** Notices: sent, and shown on open pages. */
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

function otherUser(): RequestRefusedError {
  return new RequestRefusedError(
    403,
    'other_user',
    'You can only send notices to the user that your credential is bound to.',
  );
}
