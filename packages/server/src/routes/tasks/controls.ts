import { defined } from 'adjutant/text';
import { isBegunBefore } from '../../http/new-id.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { reachableTask, taskAnswer } from '../../http/reachable-task.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { reasonSchema } from '../../schemas/session.ts';
import { reprioritySchema, taskPathSchema, taskSchema } from '../../schemas/task.ts';
import { isOpenTask } from '../../stream/tasks/task-look.ts';

const tag = 'Tasks';

const controls = [
  {
    action: 'cancel',
    path: 'cancel',
    permission: 'chat',
    operationId: 'cancelTask',
    summary: 'Ends one interest in a task; the last one cancels it',
    description: 'A task that runs is aborted by its worker. GET it with `wait` for its end.',
  },
  {
    action: 'suspend',
    path: 'suspend',
    permission: 'operate',
    operationId: 'suspendTask',
    summary: 'Lets a task wait until it is resumed',
    description: 'One that runs ends its round first.',
  },
  {
    action: 'resume',
    path: 'resume',
    permission: 'operate',
    operationId: 'resumeTask',
    summary: 'Lets a suspended task take its turn again',
    description: 'It goes on where it stopped.',
  },
  {
    action: 'moveToFront',
    path: 'move-to-front',
    permission: 'operate',
    operationId: 'moveTaskToFront',
    summary: 'Puts a task before all others that wait, but for realtime ones',
    description: 'One that runs goes on.',
  },
  {
    action: 'retry',
    path: 'retry',
    permission: 'operate',
    operationId: 'retryTask',
    summary: 'Executes a task again that has failed, was cancelled or passed its deadline',
    description: 'What it has completed stays completed. Refused while it has not ended.',
  },
] as const;

const reprioritizeTask = defineRoute({
  method: 'post',
  path: '/v1/tasks/{task}/reprioritize',
  permission: 'operate',
  operationId: 'reprioritizeTask',
  tag,
  summary: 'Changes the priority of a task',
  params: taskPathSchema,
  body: reprioritySchema,
  answers: { 202: { description: 'It is stored', schema: taskSchema } },
});

const discardTask = defineRoute({
  method: 'delete',
  path: '/v1/tasks/{task}',
  permission: 'operate',
  operationId: 'discardTask',
  tag,
  summary: 'Takes an ended task out of the list',
  description: 'Its session stays. Refused while it has not ended.',
  params: taskPathSchema,
  answers: { 204: { description: 'It is no longer listed' } },
});

/** Adds the routes that control a task, in whichever process it is worked on. */
export const addTaskControlRoutes: AddRoutes = (api, { taskWatches }) => {
  for (const { action, path, permission, operationId, summary, description } of controls) {
    addRoute(
      api,
      {
        method: 'post',
        path: `/v1/tasks/{task}/${path}`,
        permission,
        operationId,
        tag,
        summary,
        description,
        params: taskPathSchema,
        body: reasonSchema,
        isBodyOptional: true,
        answers: { 202: { description: 'It is stored', schema: taskSchema } },
      },
      async (input) => {
        const { app, body, params, principal } = input;
        const task = await reachableTask(input, params.task);
        // The request was begun before, and may be what has ended it.
        const isOver = action === 'retry' ? isOpenTask(task) : !isOpenTask(task);
        if (isOver && isBegunBefore(input)) return { status: 202, body: taskAnswer(task) };
        const { id } = task;
        await app.tasks[action](id, { by: principal.actor, ...defined({ reason: body.reason }) });
        taskWatches.hint(app.tenant);
        return { status: 202, body: taskAnswer(await app.tasks.get(id)) };
      },
    );
  }
  addRoute(api, discardTask, async (input) => {
    const { id } = await reachableTask(input, input.params.task);
    await input.app.tasks.discard(id);
    return input.context.body(null, 204);
  });
  addRoute(api, reprioritizeTask, async (input) => {
    const { app, body, params, principal } = input;
    const { id } = await reachableTask(input, params.task);
    const { priority, reason } = body;
    await app.tasks.reprioritize(id, priority, { by: principal.actor, ...defined({ reason }) });
    taskWatches.hint(app.tenant);
    return { status: 202, body: taskAnswer(await app.tasks.get(id)) };
  });
};
