import type { JsonValue } from 'adjutant';
import { defined } from 'adjutant/text';
import type { AddRoutes } from '../http/parts.ts';
import { reachableSession } from '../http/reachable.ts';
import { addRoute, defineRoute } from '../http/route.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import {
  recordedOutcomeSchema,
  reopenedSchema,
  reopeningSchema,
  toldOutcomeSchema,
} from '../schemas/repair.ts';

const tag = 'Sessions';

const tellOutcome = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/outcomes',
  permission: 'operate',
  operationId: 'tellOutcome',
  tag,
  summary: 'Records the outcome of a call or an effect that nobody knows',
  description:
    'A step that runs again gets the outcome of its effect; the model is informed of a call. It ' +
    'is answered when it is recorded, also by another process that works on the session. What ' +
    'would change nothing is refused with `not_resolvable`.',
  params: sessionPathSchema,
  body: toldOutcomeSchema,
  answers: { 200: { description: 'It is recorded', schema: recordedOutcomeSchema } },
});

const reopenSession = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/reopen',
  permission: 'operate',
  operationId: 'reopenSession',
  tag,
  summary: 'Opens a failed or cancelled run again',
  description:
    'Completed work is not done again. POST /v1/sessions/{session}/continue goes on with the ' +
    'run. An app with `recover: "auto"` goes on by itself.',
  params: sessionPathSchema,
  body: reopeningSchema,
  answers: { 200: { description: 'The run is open', schema: reopenedSchema } },
});

/** Adds the routes that repair runs. */
export const addRepairRoutes: AddRoutes = (api) => {
  addRoute(api, tellOutcome, async (input) => {
    const { callId, happened, result, failed } = input.body;
    const { id } = await reachableSession(input, input.params.session);
    await input.app.sessions.resolveUnknown(id, callId, {
      by: input.principal.actor,
      happened,
      ...defined({ result: result as JsonValue | undefined, failed }),
    });
    return { status: 200, body: { session: id, callId, status: 'recorded' as const } };
  });
  addRoute(api, reopenSession, async (input) => {
    const { reason, path, lane } = input.body;
    const { id } = await reachableSession(input, input.params.session);
    await input.app.sessions.reopen(id, {
      by: input.principal.actor,
      reason,
      ...defined({ path, lane }),
    });
    return { status: 200, body: { session: id, status: 'reopened' as const } };
  });
};
