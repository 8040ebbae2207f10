import { planViews } from 'adjutant/plan';
import type { AddRoutes } from '../../http/parts.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import { planQuerySchema, plansSchema } from '../../schemas/plans/plan.ts';
import { runOf } from '../../stream/run-state.ts';
import { listed, streamedJson, writtenInTurns } from '../../stream/streamed-json.ts';
import { openedAt } from './opened.ts';
import { noRun } from './tree.ts';

const getPlans = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/plans',
  permission: 'read',
  operationId: 'getPlans',
  tag: 'Ledgers',
  summary: 'The plans of a session: subtasks with their progress, and revisions',
  params: sessionPathSchema,
  query: planQuerySchema,
  answers: {
    200: { description: 'The plans, in the order in which they began', schema: plansSchema },
  },
});

/** Adds the route of plans. */
export const addPlanRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, getPlans, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, principal, query, request } = input;
      const { run } = query;
      return replays.answerInTurn(principal, request.signal, async () => {
        const { session, events, at } = await openedAt(app, id, query.at);
        const hasBegun = events.some(
          ({ type, invocationId }) =>
            type === 'invocation_start' && runOf(invocationId ?? '') === run,
        );
        if (run !== undefined && !hasBegun) throw noRun(run);
        const all = planViews(session, { at });
        const plans = run === undefined ? all : all.filter(({ path }) => runOf(path) === run);
        const texts = await writtenInTurns(plans);
        return streamedJson(listed('{"plans":', texts, `,"at":${at}}`));
      });
    }),
  );
};
