import type { JsonValue } from 'adjutant';
import { defined } from 'adjutant/text';
import { newId } from '../../http/new-id.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { newPublishedEventSchema, publishedEventSchema } from '../../schemas/published-event.ts';
import { assertUnbound } from './trigger-options.ts';

const publishEvent = defineRoute({
  method: 'post',
  path: '/v1/events',
  permission: 'operate',
  operationId: 'publishEvent',
  tag: 'Triggers',
  summary: 'Publishes an event',
  description:
    'Each trigger on events of its type that there is when it is handed on gets it once. The ' +
    'same `id` is the same event. Events belong to the whole tenant: a credential that is bound ' +
    'to a user or to agents publishes none. What cannot be is refused with 400 ' +
    '`invalid_bus_event`.',
  body: newPublishedEventSchema,
  answers: { 202: { description: 'The event is stored', schema: publishedEventSchema } },
});

/** Events that other systems publish. */
export const addPublishedEventRoutes: AddRoutes = (api) => {
  addRoute(api, publishEvent, async (input) => {
    assertUnbound(input, 'publish one');
    const { data, id = newId(input, 'event'), source, type } = input.body;
    const event = { type, id, ...defined({ source, data: data as JsonValue | undefined }) };
    return { status: 202, body: await input.app.publish(event) };
  });
};
