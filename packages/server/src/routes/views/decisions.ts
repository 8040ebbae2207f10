import { defined } from 'adjutant/text';
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
import { listed, streamedJson, writtenInTurns } from '../../stream/streamed-json.ts';
import { type OpenedSession, openedAt } from './opened.ts';

const listDecisions = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/decisions',
  permission: 'read',
  operationId: 'listDecisions',
  tag: 'Ledgers',
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
  tag: 'Ledgers',
  summary: 'What failed in a session and what was escalated',
  params: sessionPathSchema,
  query: failuresQuerySchema,
  answers: { 200: { description: 'A page of failures', schema: failurePageSchema } },
});

/** Adds the routes of decisions and failures. */
export const addDecisionRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, listDecisions, (input) =>
    readReachable(input, input.params.session, ({ id }) => {
      const { component, run } = input.query;
      const components = component === undefined ? undefined : [component];
      return replays.answerInTurn(input.principal, input.request.signal, () =>
        pageOf(input, id, 'decisions', ({ session, at }) =>
          explain(session, { upTo: at, ...defined({ components, run }) }),
        ),
      );
    }),
  );
  addRoute(api, listFailures, (input) =>
    readReachable(input, input.params.session, ({ id }) =>
      replays.answerInTurn(input.principal, input.request.signal, () =>
        pageOf(input, id, 'failures', ({ session, at }) =>
          failures(session).filter(({ seq }) => seq <= at),
        ),
      ),
    ),
  );
};

interface Page {
  readonly at?: number | undefined;
  readonly after: number;
  readonly limit: number;
}

/** Answers with a part of what a view finds, in the order of the ledger. */
async function pageOf(
  { app, query }: Pick<RouteInput<unknown, Page, unknown>, 'app' | 'query'>,
  id: string,
  name: string,
  found: (opened: OpenedSession) => readonly { readonly seq: number }[],
): Promise<Response> {
  const { after, limit } = query;
  const opened = await openedAt(app, id, query.at);
  const { at } = opened;
  const rest = found(opened).filter(({ seq }) => seq > after);
  const shown = rest.slice(0, limit);
  const next = shown.length < rest.length ? (shown.at(-1)?.seq ?? at) : Math.max(after, at);
  const texts = await writtenInTurns(shown);
  return streamedJson(listed(`{"${name}":`, texts, `,"next":${next},"at":${at}}`));
}
