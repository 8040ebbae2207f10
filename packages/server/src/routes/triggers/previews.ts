import { defined } from 'adjutant/text';
import { scheduleOf } from 'adjutant/triggers';
import type { AddRoutes } from '../../http/parts.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import {
  previewQuerySchema,
  previewSchema,
  schedulePreviewSchema,
  triggerPathSchema,
} from '../../schemas/trigger.ts';
import { reachableTrigger, triggersOf } from './reachable-trigger.ts';

const tag = 'Triggers';

const previewTrigger = defineRoute({
  method: 'get',
  path: '/v1/triggers/{trigger}/preview',
  permission: 'read',
  operationId: 'previewTrigger',
  tag,
  summary: 'The next instants of a trigger with a schedule, without jitter',
  params: triggerPathSchema,
  query: previewQuerySchema,
  answers: { 200: { description: 'The instants', schema: previewSchema } },
});

const previewSchedule = defineRoute({
  method: 'post',
  path: '/v1/triggers/preview',
  permission: 'read',
  operationId: 'previewSchedule',
  tag,
  summary: 'The next instants of a schedule that is not saved yet',
  description:
    'Changes nothing. A pattern that never fires and an unknown zone are refused with 400 ' +
    '`invalid_trigger`.',
  body: schedulePreviewSchema,
  repeated: 'again',
  answers: { 200: { description: 'The instants', schema: previewSchema } },
});

/** Previews: when something would fire. */
export const addTriggerPreviewRoutes: AddRoutes = (api) => {
  addRoute(api, previewTrigger, async (input) => {
    const { name } = await reachableTrigger(input, input.params.trigger);
    const instants = await triggersOf(input).preview(name, { count: input.query.count });
    return { status: 200, body: { instants: [...instants] } };
  });
  addRoute(api, previewSchedule, async (input) => {
    const { count, on } = input.body;
    const instants = await triggersOf(input).preview(scheduleOf(on), defined({ count }));
    return { status: 200, body: { instants: [...instants] } };
  });
};
