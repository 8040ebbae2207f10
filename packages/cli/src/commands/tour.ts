import type { AddCommand } from '../grammar/add-command.ts';

/** Adds the command that the program carries out when it starts without arguments. */
export const addTourCommand: AddCommand = (program, { host, onExitCode }) => {
  program
    .command('tour', { hidden: true })
    .action(async () => onExitCode((await import('../actions/tour.ts')).showTour(host)));
};
