import { defined } from 'adjutant/text';
import { isBegunBefore } from '../../http/new-id.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { reachableTask, taskAnswer } from '../../http/reachable-task.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { reasonSchema } from '../../schemas/session.ts';
import { reprioritySchema, taskPathSchema, taskSchema } from '../../schemas/task.ts';
import { isOpenTask } from '../../stream/tasks/task-watch.ts';

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
        if (!isOpenTask(task) && isBegunBefore(input))
          return { status: 202, body: taskAnswer(task) };
        const { id } = task;
        await app.tasks[action](id, { by: principal.actor, ...defined({ reason: body.reason }) });
        taskWatches.hint(app.tenant);
        return { status: 202, body: taskAnswer(await app.tasks.get(id)) };
      },
    );
  }
  addRoute(api, reprioritizeTask, async (input) => {
    const { app, body, params, principal } = input;
    const { id } = await reachableTask(input, params.task);
    const { priority, reason } = body;
    await app.tasks.reprioritize(id, priority, { by: principal.actor, ...defined({ reason }) });
    taskWatches.hint(app.tenant);
    return { status: 202, body: taskAnswer(await app.tasks.get(id)) };
  });
};
