import type { Command } from 'commander';
import type { NoticePlaceFlags, NoticesOptions } from '../../actions/notices/notices.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { withConfig, withServer } from '../../grammar/option-groups.ts';
import { notEmpty, positiveInteger } from '../../grammar/option-values.ts';

/** Adds `adjutant notices`, with its commands for messages to people. */
export const addNoticesCommand: AddCommand = (program, parts) => {
  const notices = program
    .command('notices')
    .description('list notices to people, and show those that are sent');
  for (const add of [addList, addFollow]) add(notices, parts);
};

const addList: AddCommand = (notices, { host, onExitCode }) => {
  const list = notices.command('list', { isDefault: true });
  placed(list.description('list the notices of a user and what has become of each, newest first'))
    .option('--user <id>', 'the user (default: that of the key, with --server)', notEmpty)
    .option('--limit <number>', 'how many at most', positiveInteger, 50)
    .option('--json', 'print each notice as a line of JSON')
    .action(async (options: NoticesOptions) => {
      const { listNotices } = await import('../../actions/notices/notices.ts');
      onExitCode(await listNotices(host, options));
    });
};

const addFollow: AddCommand = (notices, { host, interruption, onExitCode }) => {
  const follow = notices.command('follow');
  placed(follow.description('show the notices of the user of the key as a server sends them'))
    .option('--json', 'print each notice as a line of JSON')
    .action(async (options: NoticePlaceFlags) => {
      const { followNotices } = await import('../../actions/notices/notices.ts');
      onExitCode(await followNotices({ host, interruption }, options));
    });
};

/** Adds the options that say whose notices are meant: those of an app, or of a server. */
function placed(command: Command): Command {
  return withServer(withConfig(command));
}
