import type { WorkerOptions } from '../../actions/tasks/worker.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { withEngine } from '../../grammar/engine-options.ts';
import { agentCommand } from '../../grammar/option-groups.ts';
import { nameList, positiveInteger } from '../../grammar/option-values.ts';

/** Adds `adjutant worker`, which works on the tasks of an app. */
export const addWorkerCommand: AddCommand = (program, parts) => {
  const command = agentCommand(
    program,
    'worker',
    'work on tasks, and on whatever else is due, until a signal ends it',
  );
  withEngine(command)
    .option(
      '--slots <number>',
      'how many at the same time (default: that of the app)',
      positiveInteger,
    )
    .option('--queues <names>', 'queues to serve, such as default,mail', nameList)
    .option('--json', 'print a line of JSON for each task that begins or ends')
    .action(async (options: WorkerOptions) => {
      const { work } = await import('../../actions/tasks/worker.ts');
      parts.onExitCode(await work({ ...parts, options }));
    });
};
