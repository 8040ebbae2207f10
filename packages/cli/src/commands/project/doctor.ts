import type { DoctorOptions } from '../../doctor/doctor.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { withConfig } from '../../grammar/option-groups.ts';

/** Adds `adjutant doctor`. */
export const addDoctorCommand: AddCommand = (program, { host, onExitCode }) => {
  withConfig(
    program
      .command('doctor')
      .description('tell what is set up and what is missing: exit code 1 with an error'),
  )
    .option('--offline', 'do not ask the models whether they answer')
    .option('--json', 'print each check as a line of JSON')
    .action(async (options: DoctorOptions) => {
      const { diagnose } = await import('../../doctor/doctor.ts');
      onExitCode(await diagnose(host, options));
    });
};
