import type { z } from '@hono/zod-openapi';
import type { JsonValue } from 'adjutant';
import type { TaskInfo } from 'adjutant/scheduler';
import { defined } from 'adjutant/text';
import { newId } from '../../http/new-id.ts';
import type { AddRoutes, ServerParts } from '../../http/parts.ts';
import { patience } from '../../http/patience.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { reachableAgent, reachableSession } from '../../http/reachable.ts';
import { isTaskInReach, reachableTask, taskAnswer } from '../../http/reachable-task.ts';
import { addRoute, defineRoute, type RouteInput } from '../../http/route.ts';
import {
  newTaskSchema,
  submittedTaskSchema,
  taskExplanationSchema,
  taskListSchema,
  taskPathSchema,
  taskQuerySchema,
  taskSchema,
  tasksQuerySchema,
} from '../../schemas/task.ts';

const tag = 'Tasks';

const listTasks = defineRoute({
  method: 'get',
  path: '/v1/tasks',
  permission: 'read',
  operationId: 'listTasks',
  tag,
  summary: 'Tasks: those that have not ended in the order of the queue, then the newest ended ones',
  description:
    'Ended tasks are listed for 24 hours. A page for a caller that is bound to some agents can ' +
    'have fewer tasks than its limit.',
  query: tasksQuerySchema,
  answers: { 200: { description: 'The tasks', schema: taskListSchema } },
});

const submitTask = defineRoute({
  method: 'post',
  path: '/v1/tasks',
  permission: 'operate',
  operationId: 'submitTask',
  tag,
  summary: 'Submits a task: a run that waits for its turn',
  description:
    'A worker of the app carries it out, in this process or in another. As many tasks as the ' +
    'limits of the queue allow may wait: one more is refused with 429 `queue_full`.',
  body: newTaskSchema,
  answers: {
    201: {
      description: 'The task is stored',
      schema: submittedTaskSchema,
      headers: { Location: 'Address of the task.' },
    },
  },
});

const getTask = defineRoute({
  method: 'get',
  path: '/v1/tasks/{task}',
  permission: 'read',
  operationId: 'getTask',
  tag,
  summary: 'One task, now or once it has ended',
  description: 'With `wait` it is answered as soon as it has ended, or when the time is over.',
  params: taskPathSchema,
  query: taskQuerySchema,
  answers: { 200: { description: 'The task', schema: taskSchema } },
});

const explainTask = defineRoute({
  method: 'get',
  path: '/v1/tasks/{task}/explanation',
  permission: 'read',
  operationId: 'explainTask',
  tag,
  summary: 'Why a task does not run now, its place in the queue, and about when it begins',
  params: taskPathSchema,
  answers: { 200: { description: 'The explanation', schema: taskExplanationSchema } },
});

type NewTask = z.infer<typeof newTaskSchema>;

const addListTasks: AddRoutes = (api) => {
  addRoute(api, listTasks, async (input) => {
    const { app, principal, query } = input;
    const { limit, requester = principal.user, session, state } = query;
    if (principal.user !== undefined && requester !== principal.user)
      return { status: 200, body: { tasks: [] } };
    const found = await app.tasks.list({
      limit,
      ...defined({ requester, session, states: state }),
    });
    const tasks = found.filter((task) => isTaskInReach(input, task)).map(taskAnswer);
    return { status: 200, body: { tasks } };
  });
};

const addSubmitTask: AddRoutes = (api, { taskWatches }) => {
  addRoute(api, submitTask, async (input) => {
    const { app, body } = input;
    const agent = reachableAgent(input, body.agent);
    if (body.session !== undefined) await reachableSession(input, body.session);
    const { id, joined } = await app.submit(agent, body.input, submitOptions(input, body));
    taskWatches.hint(app.tenant);
    // Another agent may have the task that this one is joined to, or whose key it has.
    const task = taskAnswer(await reachableTask(input, id));
    const headers = { location: `/v1/tasks/${encodeURIComponent(id)}` };
    return { status: 201, body: { ...task, joined }, headers };
  });
};

/** Options of a submission. Under an `Idempotency-Key`, its key follows from that. */
function submitOptions(
  input: RouteInput<unknown, unknown, unknown>,
  { agent: _, input: __, key = newId(input, 'task'), data, ...given }: NewTask,
) {
  const requester = requesterOf(input, given.requester);
  const { concurrencyKey, deadline, rate, ...plain } = given;
  return {
    ...defined({ ...plain, rate, data: data as JsonValue | undefined, requester }),
    ...(deadline === undefined ? {} : { deadline: defined(deadline) }),
    ...(concurrencyKey === undefined
      ? {}
      : {
          concurrencyKey:
            typeof concurrencyKey === 'string' ? concurrencyKey : defined(concurrencyKey),
        }),
    key,
  };
}

/**
 * User on whose behalf a task runs.
 * @throws RequestRefusedError `other_user` (403) for a caller that is bound to another user
 */
function requesterOf(
  { principal: { user } }: RouteInput<unknown, unknown, unknown>,
  requester: string | undefined,
): string | undefined {
  if (user === undefined || requester === undefined || requester === user) return requester ?? user;
  throw new RequestRefusedError(
    403,
    'other_user',
    'You can only submit tasks of the user that your credential is bound to. Leave `requester` ' +
      'out.',
  );
}

const addGetTask: AddRoutes = (api, parts) => {
  addRoute(api, getTask, async (input) => {
    await reachableTask(input, input.params.task);
    return { status: 200, body: taskAnswer(await endedTask(parts, input)) };
  });
};

/** A task as it is once it has ended, or once the request has waited for as long as it wanted. */
async function endedTask(
  parts: ServerParts,
  input: RouteInput<{ readonly task: string }, { readonly wait: number }, unknown>,
): Promise<TaskInfo> {
  const { app, params, query } = input;
  const { signal, assertAccepted, end } = patience(parts, input, query.wait);
  try {
    if (query.wait > 0)
      await app.tasks.wait(params.task, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    assertAccepted();
    return await app.tasks.get(params.task);
  } finally {
    end();
  }
}

const addExplainTask: AddRoutes = (api) => {
  addRoute(api, explainTask, async (input) => {
    const { app, params, principal } = input;
    await reachableTask(input, params.task);
    const { task, block, text, ...place } = await app.tasks.explain(params.task);
    const isBound = principal.user !== undefined || principal.agents !== undefined;
    // The sessions that hold a key may be out of the caller's reach.
    const isHidden = isBound && block?.kind === 'key';
    return {
      status: 200,
      body: {
        ...defined(place),
        task: taskAnswer(task),
        ...(block === undefined ? {} : { block: isHidden ? { ...block, holders: [] } : block }),
        text: isHidden ? `The concurrency key "${block.key}" is held by other tasks.` : text,
      },
    };
  });
};

/** Tasks: submitted, listed, looked at, waited for and explained. */
export const addTaskRoutes: AddRoutes = (api, parts) => {
  for (const add of [addListTasks, addSubmitTask, addGetTask, addExplainTask]) add(api, parts);
};
