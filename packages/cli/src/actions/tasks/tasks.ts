import { type TaskInfo, type TaskState, taskInWords } from 'adjutant/scheduler';
import { defined } from 'adjutant/text';
import { openAccess } from '../../access/open-access.ts';
import type { ServerFlags } from '../../access/server-flags.ts';
import type { TaskAccess, TaskCommand, TaskOrder } from '../../access/tasks/task-access.ts';
import type { ProjectFlags } from '../../app/project.ts';
import { exitCodes } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import { formatTime } from '../../output/format.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine, plainText } from '../../output/plain-text.ts';
import { styleFor } from '../../output/style.ts';
import { writeTaskTable } from '../../output/task-table.ts';

export interface TaskFlags extends ProjectFlags, ServerFlags {
  readonly json?: boolean;
}

export interface TasksOptions extends TaskFlags {
  readonly state?: readonly TaskState[];
  readonly requester?: string;
  readonly limit: number;
}

export interface SubmitOptions
  extends TaskFlags,
    Pick<TaskOrder, 'name' | 'priority' | 'requester' | 'session' | 'queue'> {
  /** Milliseconds before which it does not begin. */
  readonly delay?: number;
  /** Name of the submission. */
  readonly idempotencyKey?: string;
}

export interface ControlOptions extends TaskFlags {
  readonly reason?: string;
}

/** `adjutant tasks list`: lists tasks, the next first. */
export async function listTasks(host: Host, options: TasksOptions): Promise<number> {
  const { limit, requester, state } = options;
  const access = await tasksOf(host, options);
  const tasks = await access.list({ limit, ...defined({ requester, states: state }) });
  if (options.json) for (const task of tasks) host.stdout.write(jsonLine(recordOf(task)));
  else if (tasks.length === 0) host.stdout.write('There are no such tasks.\n');
  else writeTaskTable(host, tasks);
  return exitCodes.ok;
}

/** `adjutant tasks show <id>`: shows a task, and explains why it does not run. */
export async function showTask(host: Host, id: string, options: TaskFlags): Promise<number> {
  const { task, text, before } = await (await tasksOf(host, options)).explain(id);
  if (options.json) {
    host.stdout.write(jsonLine({ ...recordOf(task), ...defined({ before }), explanation: text }));
    return exitCodes.ok;
  }
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['agent', task.runnable],
    ['for', task.requester],
    ['queue', task.queue],
    ['priority', task.priority],
    ['session', task.session],
    ['submitted', formatTime(task.submittedAt)],
    ['began', task.startedAt && formatTime(task.startedAt)],
    ['ended', task.completedAt && formatTime(task.completedAt)],
    ['deadline', task.hardDeadlineAt && formatTime(task.hardDeadlineAt)],
    ['about', task.description],
    ['result', task.result === undefined ? undefined : resultText(task.result)],
  ].map(([name, value]) => [String(name), value === undefined ? undefined : String(value)]);
  const style = styleFor(host.stdout);
  const lines = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${style.dim(name.padEnd(9))} ${plainLine(value)}`],
  );
  host.stdout.write(`${[lineOf(host, task), ...lines, plainLine(text)].join('\n')}\n`);
  return exitCodes.ok;
}

/** `adjutant tasks submit <agent> <text>`: submits a task. */
export async function submitTask(
  host: Host,
  { agent, input }: Pick<TaskOrder, 'agent' | 'input'>,
  options: SubmitOptions,
): Promise<number> {
  const { name, priority, requester, session, queue, delay, idempotencyKey } = options;
  const access = await tasksOf(host, options);
  const { task, joined } = await access.submit({
    agent,
    input,
    ...defined({ name, priority, requester, session, queue }),
    ...defined({ delayMs: delay, key: idempotencyKey }),
  });
  if (options.json) host.stdout.write(jsonLine({ ...recordOf(task), joined }));
  else host.stdout.write(`${lineOf(host, task)}\n  ${task.id}\n`);
  return exitCodes.ok;
}

/** `adjutant tasks cancel <id>` and the other commands about a task. */
export async function controlTask(
  host: Host,
  id: string,
  command: TaskCommand,
  options: ControlOptions,
): Promise<number> {
  const task = await (await tasksOf(host, options)).control(id, command, options.reason);
  if (options.json)
    host.stdout.write(jsonLine({ type: command.kind, status: 'posted', task: recordOf(task) }));
  else host.stdout.write(`${storedText(command, task)}\n`);
  return exitCodes.ok;
}

/** `adjutant tasks discard <id>`: takes an ended task out of the list. */
export async function discardTask(host: Host, id: string, options: TaskFlags): Promise<number> {
  await (await tasksOf(host, options)).discard(id);
  if (options.json) host.stdout.write(jsonLine({ type: 'discard', status: 'done', id }));
  else host.stdout.write(`The task "${plainLine(id)}" is no longer listed. Its session stays.\n`);
  return exitCodes.ok;
}

async function tasksOf(host: Host, options: TaskFlags): Promise<TaskAccess> {
  return (await openAccess(host, options)).tasks;
}

function storedText(command: TaskCommand, task: TaskInfo): string {
  const name = `"${plainLine(task.name)}"`;
  switch (command.kind) {
    case 'cancel':
      return `${name} is cancelled as soon as a worker heeds it.`;
    case 'suspend':
      return `${name} waits until it is resumed.`;
    case 'resume':
      return `${name} takes its turn again.`;
    case 'move_to_front':
      return `${name} goes before all others that wait.`;
    case 'retry':
      return `${name} is executed again.`;
    case 'reprioritize':
      return `${name} has the priority ${task.priority} now.`;
  }
}

/** One task on one line. */
function lineOf({ clock }: Host, task: TaskInfo): string {
  return plainLine(taskInWords(task, { now: clock.now(), format: 'text' }));
}

/** A task without its tenant, which a server does not tell. */
function recordOf({ tenant: _, ...task }: TaskInfo): object {
  return task;
}

function resultText(result: unknown): string {
  return typeof result === 'string' ? plainText(result) : JSON.stringify(result);
}
