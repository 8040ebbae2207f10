import { Option } from 'commander';
import type { ResolveOptions } from '../actions/resolve.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { notEmpty, sessionId } from '../grammar/option-values.ts';

/** Adds `adjutant resolve`. */
export const addResolveCommand: AddCommand = (program, { host, onExitCode }) => {
  withServer(
    ledgerCommand(program, 'resolve', 'tell the outcome of a call or an effect that nobody knows'),
  )
    .argument('<session>', 'id of the session', sessionId)
    .argument('<call>', 'id of the call or the effect, such as run/charge', notEmpty)
    .addOption(new Option('--happened', 'it took place').conflicts(['notHappened', 'failed']))
    .addOption(
      new Option('--result <json>', 'it took place, and gave this').conflicts([
        'notHappened',
        'failed',
      ]),
    )
    .option('--not-happened', 'it did not take place: an effect is tried again')
    .option('--failed <text>', 'it did not take place, and failed for good: why', notEmpty)
    .option('--json', 'print a line of JSON')
    .action(async (session: string, call: string, options: ResolveOptions) => {
      const { resolveOutcome } = await import('../actions/resolve.ts');
      onExitCode(await resolveOutcome(host, session, call, options));
    });
};
