import type { z } from '@hono/zod-openapi';
import { SeqOutOfRangeError, type StoredEvent, transcript } from 'adjutant';
import { largePage, ledgersOf } from '../http/large-values.ts';
import type { AddRoutes } from '../http/parts.ts';
import { readReachable } from '../http/reachable.ts';
import { addRoute, defineRoute } from '../http/route.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import { eventPageSchema, eventQuerySchema, transcriptSchema } from '../schemas/event.ts';
import { stateQuerySchema, stateSchema } from '../schemas/session.ts';

const tag = 'Ledgers';

const listEvents = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/events',
  permission: 'read',
  operationId: 'listEvents',
  tag,
  summary: 'The events of a session, a page at a time',
  description: 'From the first one on, or from behind `after`. Asking again with `next` gives what has come since.',
  params: sessionPathSchema,
  query: eventQuerySchema,
  answers: { 200: { description: 'A page of events', schema: eventPageSchema } },
});

const getState = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/state',
  permission: 'read',
  operationId: 'getState',
  tag,
  summary: 'A session as it was right after an event',
  params: sessionPathSchema,
  query: stateQuerySchema,
  answers: { 200: { description: 'State and invocations', schema: stateSchema } },
});

const getTranscript = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/transcript',
  permission: 'read',
  operationId: 'getTranscript',
  tag,
  summary: 'A session as a conversation',
  params: sessionPathSchema,
  answers: { 200: { description: 'The conversation, from its beginning', schema: transcriptSchema } },
});

/** What sessions hold: events, state and conversation. Nothing is claimed: whoever works on a session is not disturbed. */
export const addLedgerRoutes: AddRoutes = (api) => {
  addRoute(api, listEvents, (input) =>
    readReachable(input, input.params.session, async ({ id, seq: last }) => {
      const { app, query } = input;
      const { after, limit, values } = query;
      if (after > last) throw new SeqOutOfRangeError({ seq: after, last });
      const events: StoredEvent[] = [];
      const page = app.events(id, { after, upTo: after + limit });
      for await (const event of values === 'full' ? largePage(page, ledgersOf(app)) : page) events.push(event);
      const next = events.at(-1)?.seq ?? after;
      return { status: 200, body: { events: events as unknown as z.infer<typeof eventPageSchema>['events'], next, last: Math.max(last, next) } };
    }),
  );
  addRoute(api, getState, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const snapshot: unknown = await input.app.stateAt(id, input.query.at);
      return { status: 200, body: snapshot as z.infer<typeof stateSchema> };
    }),
  );
  addRoute(api, getTranscript, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { events, ledger } = await input.app.session({ id, observe: false });
      const entries: unknown = transcript(events, ledger.resolve);
      return { status: 200, body: { entries: entries as z.infer<typeof transcriptSchema>['entries'] } };
    }),
  );
};
