import type { z } from '@hono/zod-openapi';
import type { AddRoutes } from '../../http/parts.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import { momentQuerySchema, momentSchema } from '../../schemas/moment.ts';

const getMoment = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/moment',
  permission: 'read',
  operationId: 'getMoment',
  tag: 'Ledgers',
  summary: 'A session right after an event: state, changes, open requests, usage, invocations',
  params: sessionPathSchema,
  query: momentQuerySchema,
  answers: { 200: { description: 'The session at that event', schema: momentSchema } },
});

/** Adds the route of moments. */
export const addMomentRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, getMoment, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, principal, query, request } = input;
      const { at, values } = query;
      const moment: unknown = await replays.answerInTurn(principal, request.signal, () =>
        app.sessions.momentAt(id, at, { values }),
      );
      return { status: 200, body: moment as z.infer<typeof momentSchema> };
    }),
  );
};
