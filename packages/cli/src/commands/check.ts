import type { CheckCommandOptions } from '../actions/check.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { withConfig } from '../grammar/option-groups.ts';
import { gathered } from '../grammar/option-values.ts';

/** Adds `adjutant check`. */
export const addCheckCommand: AddCommand = (program, { host, onExitCode }) => {
  withConfig(
    program
      .command('check')
      .description(
        'hold the present code of the app against its open runs, before it is deployed: exit ' +
          'code 1 where one could not go on',
      ),
  )
    .argument('[session...]', 'only these sessions (default: all with an open run)')
    .option('--tenant <name>', 'the sessions of this tenant; may be given again', gathered)
    .option(
      '--run-steps',
      'also run steps that do not say `effects: false`: what they do outside by themselves is ' +
        'done again',
    )
    .option('--json', 'print each session as a line of JSON, then what says nothing of recovery')
    .action(async (sessions: readonly string[], options: CheckCommandOptions) => {
      const { checkApp } = await import('../actions/check.ts');
      onExitCode(await checkApp(host, sessions, options));
    });
};
