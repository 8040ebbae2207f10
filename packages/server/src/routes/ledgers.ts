import type { z } from '@hono/zod-openapi';
import type { Runtime, StoredEvent } from 'adjutant';
import { SeqOutOfRangeError } from 'adjutant/errors';
import { systemTurns } from 'adjutant/ports';
import { type EventFilter, transcriptEntries } from 'adjutant/views';
import { largePage, ledgersOf } from '../http/large-values.ts';
import type { AddRoutes } from '../http/parts.ts';
import { readReachable } from '../http/reachable.ts';
import { addRoute, defineRoute } from '../http/route.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import { eventPageSchema, eventQuerySchema, transcriptSchema } from '../schemas/event.ts';
import { stateQuerySchema, stateSchema } from '../schemas/session.ts';
import { listed, streamedJson, writtenInTurns } from '../stream/streamed-json.ts';
import { isNarrow, type Looked, matchingEventsOf } from './views/matching-events.ts';

const tag = 'Ledgers';

const listEvents = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/events',
  permission: 'read',
  operationId: 'listEvents',
  tag,
  summary: 'The events of a session, a page at a time',
  description:
    'From the first one on, or from behind `after`. Asking again with `next` gives what ' +
    'has come since. With `type`, `agent`, `from`, `to` or `text` a page has those events only. ' +
    'It ends when so many were looked at that others should have their turn, perhaps without ' +
    'any: `next` is behind them, and it was the last page when `next` is `last`.',
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
  answers: {
    200: { description: 'The conversation, from its beginning', schema: transcriptSchema },
  },
});

/**
 * Adds the routes that read sessions: events, state and conversation. Nothing is claimed: the
 * process that works on a session is not disturbed.
 */
export const addLedgerRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, listEvents, (input) =>
    readReachable(input, input.params.session, async ({ id, seq: last }) => {
      const { app, principal, query, request } = input;
      const { after, limit, values, type: types, ...others } = query;
      if (after > last) throw new SeqOutOfRangeError({ seq: after, last });
      const filter: EventFilter = { types, ...others };
      const looked: Looked = {};
      const from = { folds: replays.folds, address: { app, session: id } };
      const recorded = isNarrow(filter)
        ? matchingEventsOf(from, filter, after, looked)
        : app.sessions.events(id, { after, upTo: after + limit });
      const events =
        values === 'full'
          ? largePage(recorded, { ledgers: ledgersOf(app), session: id })
          : recorded;
      const page = await replays.answerInTurn(principal, request.signal, () =>
        writtenPage(events, limit),
      );
      const next = looked.to ?? page.next ?? after;
      const end = `,"next":${next},"last":${Math.max(last, next)}}`;
      return streamedJson(listed('{"events":', page.texts, end));
    }),
  );
  addRoute(api, getState, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, principal, query, request } = input;
      const snapshot: unknown = await replays.answerInTurn(principal, request.signal, () =>
        app.sessions.stateAt(id, query.at),
      );
      return { status: 200, body: snapshot as z.infer<typeof stateSchema> };
    }),
  );
  addRoute(api, getTranscript, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, principal, request } = input;
      const entries = await replays.answerInTurn(principal, request.signal, () =>
        writtenEntries(app, id),
      );
      return streamedJson(listed('{"entries":', entries, '}'));
    }),
  );
};

/** Characters after which a page of events ends, with the event that has reached them. */
const longestPage = 4_194_304;

/**
 * Written one by one: a thousand large events in one piece would hold others up. `next` is the last
 * of them.
 */
async function writtenPage(
  events: AsyncIterable<StoredEvent>,
  limit: number,
): Promise<{ readonly texts: readonly string[]; readonly next: number | undefined }> {
  const texts: string[] = [];
  let length = 0;
  let next: number | undefined;
  for await (const event of events) {
    const text = JSON.stringify(event);
    texts.push(text);
    length += text.length;
    next = event.seq;
    if (texts.length >= limit || length > longestPage) break;
    await systemTurns.pass();
  }
  return { texts, next };
}

async function writtenEntries(app: Runtime, id: string): Promise<readonly string[]> {
  const { events, resolve } = await app.sessions.open({ id, observe: false });
  return writtenInTurns(transcriptEntries(events, resolve));
}
