import type { AddRoutes } from '../../http/parts.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { sessionChangesResponse } from '../../stream/sessions/session-changes.ts';

const streamSessionChanges = defineRoute({
  method: 'get',
  path: '/v1/changes',
  permission: 'read',
  operationId: 'streamSessionChanges',
  tag: 'Sessions',
  summary: 'Which sessions change, while they do',
  description:
    'First the event `begun`: a list that is read after it misses no change. Then, for each ' +
    'session that changes, the event `changed` with `session`, `seq` of its last event, ' +
    '`status`, and `agent` and `title` if it has them: that it has changed, and not what has ' +
    'happened. Changes of a session are told as one, four times a second at most; those by ' +
    'other processes come within about a second. Deletions are not told. The events have no ' +
    'ids: a client that lost the connection reads its list again. The stream stays open.',
  answers: {
    200: { description: 'The changes, as server-sent events', contentType: 'text/event-stream' },
  },
});

/** The stream of the sessions of a tenant that change. */
export const addSessionChangeRoutes: AddRoutes = (api, parts) => {
  addRoute(api, streamSessionChanges, (input) => sessionChangesResponse(parts, input));
};
