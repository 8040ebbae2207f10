import { defined } from 'adjutant/text';
import { newId } from '../http/new-id.ts';
import type { AddRoutes } from '../http/parts.ts';
import { reachableSession } from '../http/reachable.ts';
import { addRoute, defineRoute } from '../http/route.ts';
import { acceptedSchema, sessionPathSchema } from '../schemas/common.ts';
import { startedRunSchema } from '../schemas/run.ts';
import {
  controlSchema,
  interruptSchema,
  laneOfSessionSchema,
  messageSchema,
} from '../schemas/session.ts';
import { startedAnswer, withRoom } from './started-run.ts';

const tag = 'Sessions';

const sendMessage = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/messages',
  permission: 'operate',
  operationId: 'sendMessage',
  tag,
  summary: 'Leaves a message for the run of a session',
  description:
    'The next prompt of its open run has it. Without an open run it is there for the next ' +
    'one: POST /v1/sessions/{session}/runs starts one.',
  params: sessionPathSchema,
  body: messageSchema,
  answers: { 202: { description: 'The message is stored', schema: acceptedSchema } },
});

const interruptSession = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/interrupt',
  permission: 'operate',
  operationId: 'interruptSession',
  tag,
  summary: 'Cuts off the answer that a session is giving',
  description:
    'What the model has said by then is kept, with a note that it was cut off. Tools come to ' +
    'their end: while they run, it is a pause.',
  params: sessionPathSchema,
  body: interruptSchema,
  isBodyOptional: true,
  answers: { 202: { description: 'It is stored', schema: acceptedSchema } },
});

const continueSession = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/continue',
  permission: 'operate',
  operationId: 'continueSession',
  tag,
  summary: 'Continues the open run of a session',
  description:
    'After a pause, or when nothing continues it by itself. What waits for an answer goes ' +
    'on waiting.',
  params: sessionPathSchema,
  body: laneOfSessionSchema,
  isBodyOptional: true,
  answers: {
    202: { description: 'The run is continued, in the background', schema: startedRunSchema },
  },
});

/** Adds the routes that control a session, in whichever process it is worked on. */
export const addControlRoutes: AddRoutes = (api, parts) => {
  addRoute(api, sendMessage, async (input) => {
    const { text, interrupt = false, key, lane } = input.body;
    const { id } = await reachableSession(input, input.params.session);
    await input.app.send(id, text, {
      by: input.principal.actor,
      interrupt,
      clientKey: key ?? newId(input, 'message'),
      ...defined({ lane }),
    });
    return { status: 202, body: { session: id, status: 'accepted' as const } };
  });
  for (const { action, permission, operationId, summary, description } of controls) {
    addRoute(
      api,
      {
        method: 'post',
        path: `/v1/sessions/{session}/${action}`,
        permission,
        operationId,
        tag,
        summary,
        description,
        params: sessionPathSchema,
        body: controlSchema,
        isBodyOptional: true,
        answers: { 202: { description: 'It is stored', schema: acceptedSchema } },
      },
      async (input) => {
        const { lane, reason } = input.body;
        const { id } = await reachableSession(input, input.params.session);
        await input.app[action](id, {
          by: input.principal.actor,
          ...defined({ lane, reason }),
        });
        return { status: 202, body: { session: id, status: 'accepted' as const } };
      },
    );
  }
  addRoute(api, interruptSession, async (input) => {
    const { lane, next, reason } = input.body;
    const { id } = await reachableSession(input, input.params.session);
    await input.app.interrupt(id, {
      by: input.principal.actor,
      ...defined({ lane, next, reason }),
    });
    return { status: 202, body: { session: id, status: 'accepted' as const } };
  });
  addRoute(api, continueSession, async (input) => {
    const { id } = await reachableSession(input, input.params.session);
    return withRoom(parts, input, (place) =>
      startedAnswer(parts, input, input.app.resume(id, defined({ lane: input.body.lane })), {
        place,
      }),
    );
  });
};

const controls = [
  {
    action: 'cancel',
    permission: 'chat',
    operationId: 'cancelSession',
    summary: 'Cancels what a session has under way',
    description:
      'The call of the model and the tools are aborted, and the ledger says who wanted it. ' +
      'Whoever works on the session heeds it within a second.',
  },
  {
    action: 'pause',
    permission: 'operate',
    operationId: 'pauseSession',
    summary: 'Lets a session end its open round and begin no other',
    description: 'Until it is continued. With `lane` the run of that lane.',
  },
] as const;
