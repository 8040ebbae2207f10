import type { PublishOptions } from '../../actions/triggers/publish.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { withConfig, withServer } from '../../grammar/option-groups.ts';
import { notEmpty } from '../../grammar/option-values.ts';

/** Adds `adjutant publish`. */
export const addPublishCommand: AddCommand = (program, { host, onExitCode }) => {
  const publish = program
    .command('publish')
    .description('publish an event, by which triggers fire')
    .argument('<type>', "type of the event, such as 'mail.received'", notEmpty)
    .argument('[json]', 'its data as JSON; - reads it from standard input (default: null)');
  withServer(withConfig(publish))
    .option('--source <name>', 'part of the system that it comes from (default: the app)', notEmpty)
    .option('--id <id>', 'id of the event: the same again is the same event', notEmpty)
    .option('--json', 'print a line of JSON')
    .action(async (type: string, json: string | undefined, options: PublishOptions) => {
      const { publishEvent } = await import('../../actions/triggers/publish.ts');
      onExitCode(await publishEvent(host, { type, json }, options));
    });
};
