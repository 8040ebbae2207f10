import { InvalidArgumentError, Option } from 'commander';
import type {
  CreateKeyOptions,
  KeysOptions,
  ListKeysOptions,
  RotateKeyOptions,
} from '../actions/keys.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand } from '../grammar/option-groups.ts';
import { duration, gathered, notEmpty } from '../grammar/option-values.ts';

/** Adds `adjutant keys`, with its commands for the API keys of a server. */
export const addKeysCommand: AddCommand = (program, parts) => {
  const keys = program
    .command('keys')
    .description('make, list and revoke the API keys that a server accepts (adjutant serve)');
  keys.action(() => keys.outputHelp());
  for (const add of [addCreate, addList, addRevoke, addRotate]) add(keys, parts);
};

const addCreate: AddCommand = (keys, { host, onExitCode }) => {
  ledgerCommand(keys, 'create', 'make a key, and print it: it is never shown again')
    .requiredOption('--name <text>', 'what it is for', notEmpty)
    .addOption(
      new Option('--role <role>', 'what it may do; may be given again')
        .choices(['viewer', 'user', 'auditor', 'operator', 'admin'])
        .argParser(role)
        .makeOptionMandatory(),
    )
    .option(
      '--tenant <name>',
      'whose sessions are in its reach (default: the tenant of the app)',
      notEmpty,
    )
    .option('--user <id>', 'only sessions of this user are in its reach', notEmpty)
    .option('--agent <name>', 'only this agent is in its reach; may be given again', gathered)
    .option(
      '--expires <duration>',
      'how long it is accepted, such as 12h, 30d or 1y (default: 365d)',
      duration,
    )
    .option('--json', 'print the key and what is known of it as a line of JSON')
    .action(async (options: CreateKeyOptions) => {
      const { createKey } = await import('../actions/keys.ts');
      onExitCode(await createKey(host, options));
    });
};

const addList: AddCommand = (keys, { host, onExitCode }) => {
  ledgerCommand(keys, 'list', 'list the keys, newest first')
    .option('--tenant <name>', 'only those of this tenant', notEmpty)
    .option('--json', 'print each key as a line of JSON')
    .action(async (options: ListKeysOptions) => {
      const { listKeys } = await import('../actions/keys.ts');
      onExitCode(await listKeys(host, options));
    });
};

const addRevoke: AddCommand = (keys, { host, onExitCode }) => {
  ledgerCommand(keys, 'revoke', 'end a key for good, in all servers, with their next request')
    .argument('<id>', 'id of the key: the part between the underscores', notEmpty)
    .option('--json', 'print a line of JSON')
    .action(async (id: string, options: KeysOptions) => {
      const { revokeKey } = await import('../actions/keys.ts');
      onExitCode(await revokeKey(host, id, options));
    });
};

const addRotate: AddCommand = (keys, { host, onExitCode }) => {
  ledgerCommand(
    keys,
    'rotate',
    'give a key a new secret, and print it; the one before is accepted for a while',
  )
    .argument('<id>', 'id of the key: the part between the underscores', notEmpty)
    .option(
      '--grace <duration>',
      'how long the secret before is accepted, such as 1h or 0s (default: 24h)',
      duration,
    )
    .option(
      '--expires <duration>',
      'how long the key is accepted, such as 12h, 30d or 1y (default: 365d)',
      duration,
    )
    .option('--json', 'print the key and what is known of it as a line of JSON')
    .action(async (id: string, options: RotateKeyOptions) => {
      const { rotateKey } = await import('../actions/keys.ts');
      onExitCode(await rotateKey(host, id, options));
    });
};

const roles = ['viewer', 'user', 'auditor', 'operator', 'admin'];

function role(value: string, before: readonly string[] = []): readonly string[] {
  if (!roles.includes(value))
    throw new InvalidArgumentError(`Allowed choices are ${roles.join(', ')}.`);
  return [...before, value];
}
