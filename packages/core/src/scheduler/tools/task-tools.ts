import { checkOptions } from '../../base/invalid-option.ts';
import { describeValue, isNonEmptyText, type OptionCheck } from '../../base/options.ts';
import type { TaskService } from '../../engine/tasks/task-service.ts';
import { requesterOf } from '../../ledger/folds/task.ts';
import { ToolFailure } from '../../tools/errors.ts';
import { type Tool, type ToolContext, tool } from '../../tools/tool.ts';
import type { TaskPriority } from '../priority.ts';
import type { TaskInfo } from '../task-info.ts';
import type { TargetedKind } from '../words/job-command.ts';
import { tasksInWords } from '../words/renderings/tasks-in-words.ts';
import { resolveTarget } from '../words/resolve-target.ts';

/** Tasks that the tools work with: `app.tasks`. */
export type TaskCommands = Pick<
  TaskService,
  'list' | 'explain' | 'cancel' | 'suspend' | 'resume' | 'reprioritize'
>;

/** Options of the tools with which agents see and steer tasks. */
export interface TaskToolsOptions {
  /**
   * The tasks, or a function that gives them: an agent is mostly made before its app. The tools
   * reach the tasks of that tenant only.
   */
  readonly tasks: TaskCommands | ((ctx: ToolContext) => TaskCommands);
  /**
   * User whose tasks the tools reach, or a function that gives the user.
   * @default the requester of the task that the run belongs to, else 'system'
   */
  readonly requester?: string | ((ctx: ToolContext) => string);
}

/** A task as a model sees it. */
interface ToldTask {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly priority: string;
  readonly rounds: number;
  readonly result?: TaskInfo['result'];
  readonly error?: string;
}

const isText = { type: 'string', minLength: 1, maxLength: 200 } as const;
const task = { ...isText, description: 'Id of the task, or its name' };
const reason = { ...isText, description: 'Why, for the record' };
const priorities: readonly TaskPriority[] = ['high', 'normal', 'low', 'background'];
const mostTold = 20;

const isTasks: OptionCheck = (value) => {
  if (typeof value === 'function') return undefined;
  const { list, explain } = (value ?? {}) as Partial<TaskCommands>;
  return typeof list === 'function' && typeof explain === 'function'
    ? undefined
    : '`app.tasks`, or a function that returns it';
};
const isRequester: OptionCheck = (value) =>
  typeof value === 'function' || isNonEmptyText(value) === undefined
    ? undefined
    : 'the id of a user, or a function that returns it';

/**
 * Makes tools with which an agent sees and steers the tasks of one user: `task_status`,
 * `reprioritize_task`, `cancel_task`, `suspend_task` and `resume_task`. Tasks of others are not
 * there.
 * @throws InvalidOptionError
 * @example
 * ```ts
 * import { agent, memoryStore, rehearsal, type Runtime, runtime } from 'adjutant';
 * import { taskTools } from 'adjutant/scheduler';
 *
 * const assistant = agent({
 *   name: 'assistant',
 *   model: rehearsal(),
 *   tools: taskTools({ tasks: () => app.tasks, requester: 'ann' }),
 * });
 * const app: Runtime = runtime({ app: 'home', store: memoryStore(), runnables: [assistant] });
 * await app.close();
 * ```
 */
export function taskTools(options: TaskToolsOptions): readonly Tool[] {
  // `null` stands for a missing option, because the check ignores `undefined`.
  const given = { ...options, tasks: options?.tasks ?? null };
  checkOptions('taskTools', given, { tasks: isTasks, requester: isRequester });
  return [
    statusTool(options),
    controlTool(options, {
      name: 'cancel_task',
      description: 'Ends a task for good. Use it when the user no longer wants its result.',
      kind: 'cancel',
      isDestructive: true,
      done: 'It ends as soon as its worker heeds it.',
    }),
    controlTool(options, {
      name: 'suspend_task',
      description:
        'Lets a task wait until it is resumed; a running one ends its round first. Use it when ' +
        'the user wants it later.',
      kind: 'suspend',
      done: 'It waits until it is resumed.',
    }),
    controlTool(options, {
      name: 'resume_task',
      description: 'Lets a suspended task go on where it stopped.',
      kind: 'resume',
      done: 'It takes its turn again.',
    }),
    reprioritizeTool(options),
  ];
}

function statusTool(options: TaskToolsOptions): Tool {
  return tool({
    name: 'task_status',
    description:
      'Tells what tasks are running or waiting, in the order of the queue. With `task` it tells ' +
      'of one task, also of one that has ended: its state, why it waits, and its result.',
    schema: { type: 'object', properties: { task }, additionalProperties: false },
    readOnly: true,
    execute: async (ctx: ToolContext<{ task?: string }>) => {
      const { tasks, requester } = reachOf(options, ctx);
      if (ctx.args.task === undefined) return listed(tasks, requester);
      const found = await foundTask(tasks, requester, ctx.args.task, 'progress');
      const { text } = await tasks.explain(found.id);
      return { task: told(found), text };
    },
  });
}

async function listed(tasks: TaskCommands, requester: string) {
  const open = await tasks.list({ requester });
  const now = Math.max(0, ...open.map(({ submittedAt }) => submittedAt));
  return {
    tasks: open.slice(0, mostTold).map(told),
    text: tasksInWords(open, { now, format: 'text' }),
  };
}

interface Control {
  readonly name: string;
  readonly description: string;
  readonly kind: 'cancel' | 'suspend' | 'resume';
  readonly isDestructive?: boolean;
  /** Sentence for the model. */
  readonly done: string;
}

/** Doing it again changes nothing: the command of a call that was cut off is given once more. */
function controlTool(options: TaskToolsOptions, control: Control): Tool {
  const { name, description, kind, isDestructive = false, done } = control;
  return tool({
    name,
    description,
    schema: {
      type: 'object',
      properties: { task, reason },
      required: ['task'],
      additionalProperties: false,
    },
    idempotent: true,
    destructive: isDestructive,
    onRepeat: 'allow',
    execute: async (ctx: ToolContext<{ task: string; reason?: string }>) => {
      const { tasks, requester } = reachOf(options, ctx);
      const found = await foundTask(tasks, requester, ctx.args.task, kind);
      await tasks[kind](found.id, author(requester, ctx));
      return { task: found.id, name: found.name, text: done };
    },
  });
}

function reprioritizeTool(options: TaskToolsOptions): Tool {
  return tool({
    name: 'reprioritize_task',
    description:
      'Changes the priority of a task. high: the user waits for the answer. normal: the user ' +
      'does something else meanwhile. low: nobody waits. background: it may take a day.',
    schema: {
      type: 'object',
      properties: { task, priority: { type: 'string', enum: [...priorities] }, reason },
      required: ['task', 'priority'],
      additionalProperties: false,
    },
    idempotent: true,
    execute: async (
      ctx: ToolContext<{ task: string; priority: TaskPriority; reason?: string }>,
    ) => {
      const { tasks, requester } = reachOf(options, ctx);
      const found = await foundTask(tasks, requester, ctx.args.task, 'reprioritize');
      await tasks.reprioritize(found.id, ctx.args.priority, author(requester, ctx));
      return { task: found.id, name: found.name, text: `Its priority is ${ctx.args.priority}.` };
    },
  });
}

function reachOf(
  { tasks, requester }: TaskToolsOptions,
  ctx: ToolContext,
): { readonly tasks: TaskCommands; readonly requester: string } {
  const named = typeof requester === 'function' ? requester(ctx) : requester;
  const wrong = named === undefined ? undefined : isNonEmptyText(named);
  if (wrong !== undefined)
    throw new ToolFailure(`The requester of the tasks is ${describeValue(named)}, not ${wrong}.`, {
      errorType: 'invalid_requester',
    });
  return {
    tasks: typeof tasks === 'function' ? tasks(ctx) : tasks,
    requester: named ?? requesterOf(ctx.session.events, ctx.invocationId),
  };
}

/** A task of the requester by its id, or an open one by its name. @throws ToolFailure */
async function foundTask(
  tasks: TaskCommands,
  requester: string,
  named: string,
  kind: TargetedKind,
): Promise<TaskInfo> {
  const open = await tasks.list({ requester });
  const byId = open.find(({ id }) => id === named) ?? (await endedTask(tasks, requester, named));
  if (byId !== undefined) return byId;
  const found = resolveTarget({ kind: 'named', words: named }, open, { for: kind });
  if (found.kind === 'one') return found.task;
  if (found.kind === 'ambiguous')
    throw new ToolFailure(`Several tasks are called "${named}". Name one by its id.`, {
      errorType: 'task_ambiguous',
      alternatives: found.candidates.map(({ id, name, state }) => `${id}: ${name} (${state})`),
    });
  throw new ToolFailure(`There is no task "${named}" to which this can be done.`, {
    errorType: 'task_not_found',
    alternatives: open.map(({ id, name, state }) => `${id}: ${name} (${state})`).slice(0, mostTold),
  });
}

async function endedTask(
  tasks: TaskCommands,
  requester: string,
  id: string,
): Promise<TaskInfo | undefined> {
  const ended = await tasks.list({
    states: ['completed', 'failed', 'cancelled', 'timeout'],
    requester,
  });
  return ended.find((one) => one.id === id);
}

function told(info: TaskInfo): ToldTask {
  const { id, name, state, priority, roundsCompleted, result, error } = info;
  return {
    ...{ id, name, state, priority, rounds: roundsCompleted },
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error: error.message }),
  };
}

/** Author of a command: the user on whose behalf the agent acts. */
function author(
  requester: string,
  { agent, args }: ToolContext<{ readonly reason?: string }>,
): { readonly by: `user:${string}`; readonly reason: string } {
  return { by: `user:${requester}`, reason: args.reason ?? `The agent ${agent} was asked to.` };
}
