import { z } from '@hono/zod-openapi';
import type { AddRoutes } from '../http/parts.ts';
import { reachableSession } from '../http/reachable.ts';
import { addRoute } from '../http/route.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import { runPathSchema } from '../schemas/run.ts';
import { assertInLedger, positionOf, positionPattern } from '../stream/position.ts';
import { profileNames } from '../stream/profile-names.ts';
import { streamResponse } from '../stream/stream-response.ts';

/** Query of the routes that stream. */
export const streamQuerySchema = z.object({
  after: z
    .string()
    .regex(positionPattern, 'must be the id of an event of the stream, such as 17')
    .optional()
    .openapi({
      description:
        'Id of the last event that is known already: the stream goes on right behind it. ' +
        'The header `Last-Event-ID` goes before it.',
      example: '17',
    }),
  profile: z.enum(profileNames).default('native').openapi({
    description: 'How the stream is told: the events as they are, as steps, or as messages.',
  }),
});

const stream = {
  description: 'The events, as server-sent events',
  contentType: 'text/event-stream',
};
const resuming =
  'A client that lost the connection goes on with the id of its last event, at any age and ' +
  'at any process of the server.';

const addStreamSession: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/sessions/{session}/stream',
      permission: 'read',
      operationId: 'streamSession',
      tag: 'Streams',
      summary: 'Everything that happens in a session',
      description:
        'All durable events, without gaps, and between them what is being written at the ' +
        `moment. The stream stays open. ${resuming}`,
      params: sessionPathSchema,
      query: streamQuerySchema,
      answers: { 200: stream },
    },
    async (input) => {
      const { params, query: asked, request, app } = input;
      const position = positionOf(request, asked.after);
      const { seq } = await reachableSession(input, params.session);
      assertInLedger(position, seq);
      return streamResponse(parts, input, {
        app,
        agents: input.principal.agents,
        session: params.session,
        profile: asked.profile,
        position,
      });
    },
  );
};

const addStreamRun: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/sessions/{session}/runs/{run}/stream',
      permission: 'read',
      operationId: 'streamRun',
      tag: 'Streams',
      summary: 'Everything that happens in a run',
      description:
        'The events of the run, and what concerns it. The event `waiting` says that it ' +
        `waits for somebody, \`end\` that it has ended. ${resuming}`,
      params: runPathSchema,
      query: streamQuerySchema,
      answers: {
        200: stream,
        204: { description: 'The run has ended, and all of its stream was read' },
      },
    },
    async (input) => {
      const { params, query: asked, request, app } = input;
      const position = positionOf(request, asked.after);
      const { seq } = await reachableSession(input, params.session);
      assertInLedger(position, seq);
      const { agents } = input.principal;
      return streamResponse(parts, input, {
        app,
        agents,
        session: params.session,
        run: params.run,
        profile: asked.profile,
        position,
      });
    },
  );
};

/** The streams of sessions and runs. */
export const addStreamRoutes: AddRoutes = (api, parts) => {
  parts.app.streams.keep();
  for (const add of [addStreamSession, addStreamRun]) add(api, parts);
};
