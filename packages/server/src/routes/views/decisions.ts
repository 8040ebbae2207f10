import type { z } from '@hono/zod-openapi';
import type { Event, Session } from 'adjutant';
import { SeqOutOfRangeError } from 'adjutant/errors';
import { explain, failures } from 'adjutant/views';
import type { AddRoutes } from '../../http/parts.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute, type RouteInput } from '../../http/route.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import {
  decisionPageSchema,
  decisionsQuerySchema,
  failurePageSchema,
  failuresQuerySchema,
} from '../../schemas/view.ts';
import type { Replays } from '../../stream/replay/replays.ts';
import type { SessionAddress } from '../../stream/replay/session-folds.ts';
import { listed, streamedJson, writtenInTurns } from '../../stream/streamed-json.ts';

const tag = 'Ledgers';

const listDecisions = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/decisions',
  permission: 'read',
  operationId: 'listDecisions',
  tag,
  summary: 'The decisions of a session in words, with the alternatives',
  params: sessionPathSchema,
  query: decisionsQuerySchema,
  answers: { 200: { description: 'A page of decisions', schema: decisionPageSchema } },
});

const listFailures = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/failures',
  permission: 'read',
  operationId: 'listFailures',
  tag,
  summary: 'What failed in a session and what was escalated',
  params: sessionPathSchema,
  query: failuresQuerySchema,
  answers: { 200: { description: 'A page of failures', schema: failurePageSchema } },
});

/** Adds the routes of decisions and failures. */
export const addDecisionRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, listDecisions, (input) => {
    const { component, run } = input.query;
    const isMeant = (one: Entry): boolean =>
      (component === undefined || component === one.component) &&
      (run === undefined || run === one.run);
    return pageOf(replays, input, { name: 'decisions', view: explain }, isMeant);
  });
  addRoute(api, listFailures, (input) =>
    pageOf(replays, input, { name: 'failures', view: failures }, () => true),
  );
};

interface Query {
  readonly at?: number | undefined;
  readonly after: number;
  readonly limit: number;
}

type Input = RouteInput<z.infer<typeof sessionPathSchema>, Query, unknown>;

/** A decision or a failure, as it is told. */
interface Entry {
  readonly seq: number;
  readonly run?: string | undefined;
  readonly component?: string | undefined;
  readonly text: string;
}

/** A view of a whole session: what it finds, in the order of the ledger. */
interface View {
  readonly name: string;
  readonly view: (session: Session) => readonly Omit<Entry, 'text'>[];
}

/** Answers with a part of what a view finds. */
function pageOf(
  replays: Replays,
  input: Input,
  view: View,
  isMeant: (entry: Entry) => boolean,
): Promise<Response> {
  const { app, params, principal, query, request } = input;
  return readReachable(input, params.session, ({ id, seq: last }) =>
    replays.answerInTurn(principal, request.signal, async () => {
      const { after, limit, at = last } = query;
      if (at > last) throw new SeqOutOfRangeError({ seq: at, last });
      const address = { app, session: id };
      const all = await replays.folds.ofWhole(address, view.name, last, () =>
        written(address, view),
      );
      const rest = all.filter((one) => one.seq > after && one.seq <= at && isMeant(one));
      const shown = rest.slice(0, limit);
      const isLast = shown.length === rest.length;
      const next = isLast ? Math.max(after, at) : (shown.at(-1)?.seq ?? at);
      const texts = shown.map(({ text }) => text);
      return streamedJson(listed(`{"${view.name}":`, texts, `,"next":${next},"at":${at}}`));
    }),
  );
}

/** About what is held of an entry besides its text, in bytes. */
const sizeOfEntry = 200;

async function written(
  { app, session: id }: SessionAddress,
  { view }: View,
): Promise<{
  readonly made: readonly Entry[];
  readonly last: Event | undefined;
  readonly size: number;
}> {
  const session = await app.sessions.open({ id, observe: false });
  const last = session.events.at(-1);
  const found = view(session);
  const texts = await writtenInTurns(found);
  // Only what is asked for later: the entries hold parts of the events.
  const made = found.map(({ seq, run, component }, i) => ({
    ...{ seq, run, component },
    text: texts[i] ?? '',
  }));
  return { made, last, size: made.reduce((sum, { text }) => sum + text.length + sizeOfEntry, 0) };
}
