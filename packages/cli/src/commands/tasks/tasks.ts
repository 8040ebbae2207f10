import type { TaskPriority, TaskState } from 'adjutant/scheduler';
import { Argument, type Command, Option } from 'commander';
import type {
  ControlOptions,
  SubmitOptions,
  TaskFlags,
  TasksOptions,
} from '../../actions/tasks/tasks.ts';
import type { AddCommand, CommandParts } from '../../grammar/add-command.ts';
import { ledgerCommand, ledgerOptions, withServer } from '../../grammar/option-groups.ts';
import {
  duration,
  gatheredChoice,
  notEmpty,
  positiveInteger,
} from '../../grammar/option-values.ts';

export const priorities: readonly TaskPriority[] = [
  'realtime',
  'high',
  'normal',
  'low',
  'background',
];
const states: readonly TaskState[] = [
  'queued',
  'running',
  'waiting',
  'suspended',
  'completed',
  'failed',
  'cancelled',
  'timeout',
];

/** Adds `adjutant tasks`, with its commands for runs that wait for their turn. */
export const addTasksCommand: AddCommand = (program, parts) => {
  const tasks = program
    .command('tasks')
    .description('list, submit and control tasks: runs that wait for their turn');
  for (const add of [addList, addShow, addSubmit, addReprioritize, addDiscard]) add(tasks, parts);
  for (const control of controls) addControl(tasks, parts, control);
};

const addList: AddCommand = (tasks, { host, onExitCode }) => {
  const list = tasks.command('list', { isDefault: true });
  withServer(ledgerOptions(list.description('list the tasks, the next first')))
    .addOption(
      new Option('--state <state>', 'only those in this state; may be given again (default: open)')
        .choices(states)
        .argParser(gatheredChoice(states)),
    )
    .option('--requester <id>', 'only those of this user', notEmpty)
    .option('--limit <number>', 'how many at most', positiveInteger, 100)
    .option('--json', 'print each task as a line of JSON')
    .action(async (options: TasksOptions) => {
      const { listTasks } = await import('../../actions/tasks/tasks.ts');
      onExitCode(await listTasks(host, options));
    });
};

const addShow: AddCommand = (tasks, { host, onExitCode }) => {
  withServer(ledgerCommand(tasks, 'show', 'show a task, and why it does not run'))
    .argument('<id>', 'id of the task', notEmpty)
    .option('--json', 'print a line of JSON')
    .action(async (id: string, options: TaskFlags) => {
      const { showTask } = await import('../../actions/tasks/tasks.ts');
      onExitCode(await showTask(host, id, options));
    });
};

const addSubmit: AddCommand = (tasks, { host, onExitCode }) => {
  withServer(ledgerCommand(tasks, 'submit', 'submit a task; a worker carries it out'))
    .argument('<agent>', 'name of the agent', notEmpty)
    .argument('<text>', 'the message that it begins with', notEmpty)
    .option('--name <text>', 'name for people (default: that of the agent)', notEmpty)
    .addOption(
      new Option('--priority <priority>', 'who waits for it (default: normal)').choices(priorities),
    )
    .option('--requester <id>', 'user on whose behalf it runs (default: system)', notEmpty)
    .option('--session <id>', 'session that it runs in (default: one of its own)', notEmpty)
    .option('--queue <name>', 'queue of the workers that are to do it (default: default)', notEmpty)
    .option('--delay <duration>', 'how long it does not begin, such as 30s or 2h', duration)
    .option(
      '--idempotency-key <key>',
      'name of the submission: the same again is the same task',
      notEmpty,
    )
    .option('--json', 'print the task as a line of JSON')
    .action(async (agent: string, input: string, options: SubmitOptions) => {
      const { submitTask } = await import('../../actions/tasks/tasks.ts');
      onExitCode(await submitTask(host, { agent, input }, options));
    });
};

const controls = [
  { verb: 'cancel', kind: 'cancel', description: 'end a task, whoever works on it' },
  { verb: 'suspend', kind: 'suspend', description: 'let a task wait until it is resumed' },
  { verb: 'resume', kind: 'resume', description: 'let a suspended task take its turn again' },
  {
    verb: 'move-to-front',
    kind: 'move_to_front',
    description: 'put a task before all that wait',
  },
  { verb: 'retry', kind: 'retry', description: 'execute a task again that has failed' },
] as const;

function addControl(
  tasks: Command,
  { host, onExitCode }: CommandParts,
  { verb, kind, description }: (typeof controls)[number],
): void {
  controlCommand(tasks, verb, description).action(async (id: string, options: ControlOptions) => {
    const { controlTask } = await import('../../actions/tasks/tasks.ts');
    onExitCode(await controlTask(host, id, { kind }, options));
  });
}

const addReprioritize: AddCommand = (tasks, { host, onExitCode }) => {
  controlCommand(tasks, 'reprioritize', 'change the priority of a task')
    .addArgument(new Argument('<priority>', 'the new priority').choices(priorities))
    .action(async (id: string, priority: TaskPriority, options: ControlOptions) => {
      const { controlTask } = await import('../../actions/tasks/tasks.ts');
      onExitCode(await controlTask(host, id, { kind: 'reprioritize', priority }, options));
    });
};

const addDiscard: AddCommand = (tasks, { host, onExitCode }) => {
  withServer(ledgerCommand(tasks, 'discard', 'take an ended task out of the list'))
    .argument('<id>', 'id of the task', notEmpty)
    .option('--json', 'print a line of JSON')
    .action(async (id: string, options: TaskFlags) => {
      const { discardTask } = await import('../../actions/tasks/tasks.ts');
      onExitCode(await discardTask(host, id, options));
    });
};

function controlCommand(tasks: Command, verb: string, description: string): Command {
  return withServer(ledgerCommand(tasks, verb, description))
    .argument('<id>', 'id of the task', notEmpty)
    .option('--reason <text>', 'why', notEmpty)
    .option('--json', 'print a line of JSON');
}
