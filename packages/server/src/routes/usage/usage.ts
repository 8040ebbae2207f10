import { systemTurns } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import { noUse, useOfBoth } from 'adjutant/views';
import type { AddRoutes } from '../../http/parts.ts';
import { type Asking, isReachable } from '../../http/reachable.ts';
import { addRoute } from '../../http/route.ts';
import { SessionUsage, type UsageFilter } from '../../runs/session-usage.ts';
import { type UsagePage, usagePageSchema, usageQuerySchema } from '../../schemas/usage.ts';
import { isPageComplete, lookedAt, mustBeIdle } from './looked-at.ts';
import { addToolUsage } from './tool-usage.ts';

/** Adds the routes of usage. */
export const addUsageRoutes: AddRoutes = (api, parts) => {
  addUsage(api, parts);
  addToolUsage(api, parts);
};

const addUsage: AddRoutes = (api, { replays }) => {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/usage',
      permission: 'read',
      operationId: 'getUsage',
      tag: 'Usage',
      summary: 'Tokens and cost, by session and model',
      description:
        'Folded from the ledgers of the sessions of one page, the session that was made ' +
        'last first. Calls that failed count with the tokens that they used; answers of ' +
        'caches and hooks do not. ' +
        'What a fork shares is counted in the session that it was forked from only. ' +
        'Sessions that were deleted are gone.',
      query: usageQuerySchema,
      answers: {
        200: { description: 'What the sessions of the page used', schema: usagePageSchema },
      },
    },
    async (input) => {
      const { query } = input;
      const { sessions, cursor } = await lookedAt(input, query);
      const used: UsagePage['sessions'] = [];
      let total = noUse;
      for (const listing of sessions) {
        if (mustBeIdle(listing, query) || !(await isReachable(input, listing))) continue;
        const usage = await replays.answerInTurn(input.principal, input.request.signal, () =>
          usageOf(input, listing.id, query),
        );
        if (usage.byModel.length === 0) continue;
        total = useOfBoth(total, usage.total);
        const { id: session, user } = listing;
        const models = usage.byModel.map(({ model, use }) => ({ model, ...use }));
        used.push({ session, ...defined({ user }), models, ...usage.total });
      }
      const complete = isPageComplete(query, cursor);
      return {
        status: 200,
        body: { sessions: used, total, complete, ...defined({ cursor }) },
      };
    },
  );
};

async function usageOf(
  { app }: Asking,
  session: string,
  filter: UsageFilter,
): Promise<SessionUsage> {
  const usage = new SessionUsage(session, filter);
  for await (const event of app.sessions.events(session)) {
    usage.add(event);
    const turn = systemTurns.pass();
    if (turn !== undefined) await turn;
  }
  return usage;
}
