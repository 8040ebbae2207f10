import type { MissedPolicy, OverlapPolicy, TriggerStatus } from 'adjutant/triggers';
import { type Command, Option } from 'commander';
import type { TriggerFlags, WhenFlags } from '../../actions/triggers/given-trigger.ts';
import type {
  ControlOptions,
  TriggerPlaceFlags,
  TriggersOptions,
} from '../../actions/triggers/triggers.ts';
import type { AddCommand, CommandParts } from '../../grammar/add-command.ts';
import { withConfig, withServer } from '../../grammar/option-groups.ts';
import { gatheredChoice, notEmpty, positiveInteger } from '../../grammar/option-values.ts';
import { priorities } from '../tasks/tasks.ts';

const statuses: readonly TriggerStatus[] = ['active', 'paused', 'disabled', 'completed', 'deleted'];
const overlaps: readonly OverlapPolicy[] = ['skip', 'queue', 'coalesce', 'cancel_previous'];
const missed: readonly MissedPolicy[] = ['skip', 'once', 'all'];

/** Adds `adjutant triggers`, with its commands for work that starts by itself. */
export const addTriggersCommand: AddCommand = (program, parts) => {
  const triggers = program
    .command('triggers')
    .description('list, make and control triggers: work that starts by itself');
  for (const add of [addList, addShow, addCreate, addUpdate]) add(triggers, parts);
  for (const control of controls) addControl(triggers, parts, control);
  for (const add of [addFire, addPreview, addHistory]) add(triggers, parts);
};

const addList: AddCommand = (triggers, { host, onExitCode }) => {
  const list = triggers.command('list', { isDefault: true });
  placed(list.description('list the triggers, the oldest first'))
    .addOption(
      new Option(
        '--status <status>',
        'only those with this status; may be given again (default: all but deleted)',
      )
        .choices(statuses)
        .argParser(gatheredChoice(statuses)),
    )
    .option('--requester <id>', 'only those whose tasks run for this user', notEmpty)
    .option('--limit <number>', 'how many at most', positiveInteger, 100)
    .option('--json', 'print each trigger as a line of JSON')
    .action(async (options: TriggersOptions) => {
      const { listTriggers } = await import('../../actions/triggers/triggers.ts');
      onExitCode(await listTriggers(host, options));
    });
};

const addShow: AddCommand = (triggers, { host, onExitCode }) => {
  named(triggers, 'show', 'show a trigger').action(
    async (name: string, options: TriggerPlaceFlags) => {
      const { showTrigger } = await import('../../actions/triggers/triggers.ts');
      onExitCode(await showTrigger(host, name, options));
    },
  );
};

const addCreate: AddCommand = (triggers, { host, onExitCode }) => {
  const create = named(triggers, 'create', 'make a trigger; workers fire it');
  create.requiredOption('--start <runnable>', 'name of the agent that a firing starts', notEmpty);
  withFacts(create).action(
    async (name: string, options: TriggerPlaceFlags & TriggerFlags & { start: string }) => {
      const { createTrigger } = await import('../../actions/triggers/triggers.ts');
      onExitCode(await createTrigger(host, name, options));
    },
  );
};

const addUpdate: AddCommand = (triggers, { host, onExitCode }) => {
  const update = named(triggers, 'update', 'change a trigger; nothing before it is considered');
  update.option('--start <runnable>', 'name of the agent that a firing starts', notEmpty);
  withFacts(update).action(async (name: string, options: TriggerPlaceFlags & TriggerFlags) => {
    const { updateTrigger } = await import('../../actions/triggers/triggers.ts');
    onExitCode(await updateTrigger(host, name, options));
  });
};

const controls = [
  { kind: 'pause', description: 'let a trigger not fire until it is resumed' },
  { kind: 'resume', description: 'let a paused or disabled trigger fire again' },
  { kind: 'disable', description: 'take a trigger out of use until it is resumed' },
  { kind: 'delete', description: 'end a trigger and its open work; its history stays' },
] as const;

function addControl(
  triggers: Command,
  { host, onExitCode }: CommandParts,
  { kind, description }: (typeof controls)[number],
): void {
  withReason(named(triggers, kind, description)).action(
    async (name: string, options: ControlOptions) => {
      const { controlTrigger } = await import('../../actions/triggers/triggers.ts');
      onExitCode(await controlTrigger(host, name, { kind }, options));
    },
  );
}

interface FireOptions extends ControlOptions {
  readonly idempotencyKey?: string;
}

const addFire: AddCommand = (triggers, { host, onExitCode }) => {
  withReason(named(triggers, 'fire', 'fire a trigger now, whatever its schedule'))
    .option('--idempotency-key <key>', 'name of the firing: the same again is one firing', notEmpty)
    .action(async (name: string, { idempotencyKey: key, ...options }: FireOptions) => {
      const { controlTrigger } = await import('../../actions/triggers/triggers.ts');
      const command = { kind: 'fire', ...(key === undefined ? {} : { key }) } as const;
      onExitCode(await controlTrigger(host, name, command, options));
    });
};

type PreviewOptions = TriggerPlaceFlags & Omit<WhenFlags, 'event'> & { readonly count: number };

const addPreview: AddCommand = (triggers, { host, onExitCode }) => {
  const preview = triggers
    .command('preview')
    .description('show when a trigger, or a schedule that is not saved, fires next');
  withSchedule(placed(preview).argument('[name]', 'name of the trigger', notEmpty))
    .option('--count <number>', 'how many instants, at most 1000', positiveInteger, 10)
    .option('--json', 'print each instant as a line of JSON')
    .action(async (name: string | undefined, options: PreviewOptions) => {
      const { previewTrigger } = await import('../../actions/triggers/triggers.ts');
      onExitCode(await previewTrigger(host, name, options));
    });
};

const addHistory: AddCommand = (triggers, { host, onExitCode }) => {
  named(triggers, 'history', 'show what has happened to a trigger, the last first')
    .option('--limit <number>', 'how many entries at most', positiveInteger, 100)
    .action(async (name: string, options: TriggerPlaceFlags & { readonly limit: number }) => {
      const { showHistory } = await import('../../actions/triggers/triggers.ts');
      onExitCode(await showHistory(host, name, options));
    });
};

/** Adds the options that say whose triggers are meant: those of an app, or of a server. */
function placed(command: Command): Command {
  return withServer(withConfig(command));
}

/** Adds a command about one trigger. */
function named(triggers: Command, verb: string, description: string): Command {
  return placed(triggers.command(verb).description(description))
    .argument('<name>', 'name of the trigger', notEmpty)
    .option('--json', 'print lines of JSON');
}

function withReason(command: Command): Command {
  return command.option('--reason <text>', 'why', notEmpty);
}

function withSchedule(command: Command): Command {
  const ways = ['cron', 'every', 'at', 'event'];
  const way = (flags: string, description: string): Option => {
    const option = new Option(flags, description).argParser(notEmpty);
    return option.conflicts(ways.filter((one) => one !== option.attributeName()));
  };
  return command
    .addOption(way('--cron <pattern>', "fire by a cron pattern, such as '0 8 * * 1-5'"))
    .option('--zone <name>', 'zone of local times, such as Europe/Berlin (default: UTC)', notEmpty)
    .addOption(way('--every <interval>', 'fire at equal distances, such as 90s, 15m, 2h or 1d'))
    .addOption(way('--at <instant>', 'fire once, such as 2027-06-01T15:00+02:00'));
}

function withFacts(command: Command): Command {
  return withSchedule(command)
    .addOption(
      new Option('--event <pattern>', "fire on published events, such as 'mail.*'")
        .argParser(notEmpty)
        .conflicts(['cron', 'every', 'at']),
    )
    .option('--input <text>', 'the instruction for the started run', notEmpty)
    .option('--description <text>', 'a sentence for people', notEmpty)
    .addOption(
      new Option(
        '--overlap <policy>',
        'rule for a firing while earlier work goes on (default: skip)',
      ).choices(overlaps),
    )
    .addOption(
      new Option('--missed <policy>', 'rule for instants that were late (default: once)').choices(
        missed,
      ),
    )
    .option('--notify <user>', 'user who is told how the work of a firing ended', notEmpty)
    .addOption(
      new Option('--priority <priority>', 'priority of the tasks (default: low)').choices(
        priorities,
      ),
    )
    .option('--requester <id>', 'user on whose behalf the tasks run (default: system)', notEmpty)
    .option('--queue <name>', 'queue of the tasks (default: default)', notEmpty);
}
