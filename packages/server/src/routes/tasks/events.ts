import type { AddRoutes } from '../../http/parts.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { taskStreamResponse } from '../../stream/tasks/task-stream.ts';

const streamTasks = defineRoute({
  method: 'get',
  path: '/v1/tasks/events',
  permission: 'read',
  operationId: 'streamTasks',
  tag: 'Tasks',
  summary: 'Tasks as they change',
  description:
    'First the tasks that have not ended, each as the event `task` with the task as its data. ' +
    'Then the event `listed`, and from then on each task that changes, as `task`. Changes that ' +
    'come at once are told as one. The events have no ids: a client that lost the connection is ' +
    'told all open tasks anew, and asks for those that it misses. Changes by other processes ' +
    'come within about a second. The stream stays open.',
  answers: {
    200: { description: 'The tasks, as server-sent events', contentType: 'text/event-stream' },
  },
});

/** The stream of the tasks of a tenant. */
export const addTaskEventRoutes: AddRoutes = (api, parts) => {
  addRoute(api, streamTasks, (input) => taskStreamResponse(parts, input));
};
