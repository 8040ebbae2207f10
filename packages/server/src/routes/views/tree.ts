import { runTree } from 'adjutant/views';
import type { AddRoutes } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import { treeQuerySchema, treeSchema } from '../../schemas/view.ts';
import { runOf } from '../../stream/run-state.ts';
import { listed, streamedJson, writtenInTurns } from '../../stream/streamed-json.ts';
import { openedAt } from './opened.ts';

const getTree = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/tree',
  permission: 'read',
  operationId: 'getTree',
  tag: 'Ledgers',
  summary: 'The invocations of a session as trees, one for each run, with times and cost',
  params: sessionPathSchema,
  query: treeQuerySchema,
  answers: {
    200: { description: 'The runs, in the order in which they began', schema: treeSchema },
  },
});

/** Adds the route of run trees. */
export const addTreeRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, getTree, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, principal, query, request } = input;
      const { run } = query;
      return replays.answerInTurn(principal, request.signal, async () => {
        const { events, at } = await openedAt(app, id, query.at);
        const all = runTree(events);
        const runs = run === undefined ? all : all.filter(({ path }) => runOf(path) === run);
        if (run !== undefined && runs.length === 0) throw noRun(run);
        const texts = await writtenInTurns(runs);
        return streamedJson(listed('{"runs":', texts, `,"at":${at}}`));
      });
    }),
  );
};

/** Returns the refusal of a run that has not begun. */
export function noRun(run: string): RequestRefusedError {
  return new RequestRefusedError(
    404,
    'run_not_found',
    `No run "${run}" has begun in this session by that event.`,
  );
}
