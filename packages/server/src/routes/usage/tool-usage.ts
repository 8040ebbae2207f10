import { systemTurns } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import type { AddRoutes } from '../../http/parts.ts';
import { type Asking, isReachable } from '../../http/reachable.ts';
import { addRoute } from '../../http/route.ts';
import type { UsageFilter } from '../../runs/session-usage.ts';
import { SessionWork, WorkSums } from '../../runs/session-work.ts';
import { toolUsageSchema, usageQuerySchema } from '../../schemas/usage.ts';
import { isPageComplete, lookedAt, mustBeIdle } from './looked-at.ts';

/** Adds the route of calls of tools and rounds of agents. */
export const addToolUsage: AddRoutes = (api, { replays }) => {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/usage/tools',
      permission: 'read',
      operationId: 'getToolUsage',
      tag: 'Usage',
      summary: 'Calls, failures and durations of tools, and rounds of agents',
      description:
        'Folded from the ledgers of the sessions of one page, the session that was made last ' +
        'first. Calls that were refused before any attempt and results that came too late are ' +
        'not counted, nor is what a fork shares with another session.',
      query: usageQuerySchema,
      answers: {
        200: { description: 'What the sessions of the page did', schema: toolUsageSchema },
      },
    },
    async (input) => {
      const { query } = input;
      const { sessions, cursor } = await lookedAt(input, query);
      const sums = new WorkSums();
      for (const listing of sessions) {
        if (mustBeIdle(listing, query) || !(await isReachable(input, listing))) continue;
        sums.add(
          await replays.answerInTurn(input.principal, input.request.signal, () =>
            workOf(input, listing.id, query),
          ),
        );
      }
      return {
        status: 200,
        body: {
          ...{ tools: sums.tools, rounds: sums.rounds, complete: isPageComplete(query, cursor) },
          ...defined({ cursor }),
        },
      };
    },
  );
};

async function workOf({ app }: Asking, session: string, filter: UsageFilter): Promise<SessionWork> {
  const work = new SessionWork(session, filter);
  for await (const event of app.sessions.events(session)) {
    work.hear(event);
    const turn = systemTurns.pass();
    if (turn !== undefined) await turn;
  }
  return work;
}
