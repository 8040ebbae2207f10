import { type Command, Option } from 'commander';
import { appName, gathered, laneName, notEmpty, sessionId } from './option-values.ts';

const storeDescription =
  'SQLite file with the ledgers (default: that of the app; without one a file in your data ' +
  'folder, or in ADJUTANT_HOME)';
const appDescription =
  'the app whose sessions they are, as in runtime({ app }) (default: that of the configuration, ' +
  'else adjutant)';

/** Adds the options that name a server, to be used instead of a store of this machine. */
export function withServer(command: Command): Command {
  const own = ['model', 'store', 'app', 'root', 'askBefore', 'config'];
  return command
    .addOption(
      new Option(
        '--server <url>',
        'work with what this server has, in the place of a store of this machine',
      ).conflicts(own),
    )
    .option('--key <key>', 'API key or token for the server (default: ADJUTANT_KEY)', notEmpty);
}

/** Adds a command that runs agents. */
export function agentCommand(program: Command, name: string, description: string): Command {
  return withConfig(
    program
      .command(name)
      .description(description)
      .option(
        '--model <name>',
        'model, such as openai:gpt-5-mini, ollama:qwen3 or rehearsal (default: ' +
          'ADJUTANT_MODEL, else by the keys that are set)',
      )
      .option('--quiet', 'only answers, questions and errors')
      .option('--store <file>', storeDescription, notEmpty)
      .option('--app <name>', appDescription, appName)
      .option(
        '--root <folder>',
        'folder that the file tools can see (default: the present one)',
        notEmpty,
      ),
  );
}

/** Adds a command that reads ledgers, or posts to them. */
export function ledgerCommand(program: Command, name: string, description: string): Command {
  return ledgerOptions(program.command(name).description(description));
}

/** Adds the options of such a command. */
export function ledgerOptions(command: Command): Command {
  return withConfig(
    command
      .option('--store <file>', storeDescription, notEmpty)
      .option('--app <name>', appDescription, appName),
  );
}

/** Adds the options that name the module with the user's app. */
export function withConfig(command: Command): Command {
  return command
    .option(
      '--config <file>',
      'module that exports the app (default: adjutant.config.ts, .mts, .js or .mjs in the ' +
        'present folder or above it)',
      notEmpty,
    )
    .option('--no-config', 'the agent of the command line, also where there is such a file');
}

/** Adds the option that names the agent that a goal is for. */
export function withAgent(command: Command): Command {
  return command.option(
    '--agent <name>',
    'agent that the goal is for (default: that of the session, else the only one that there is)',
    notEmpty,
  );
}

/** Adds the option that names the session of a run. */
export function withSession(command: Command): Command {
  return command.option(
    '--session <id>',
    'go on in this session, or begin it under this name',
    sessionId,
  );
}

/** Adds the option that names the lane of a run. */
export function withLane(command: Command): Command {
  return command.option(
    '--lane <name>',
    'lane of the session whose run is meant (default: the default lane, which has no name)',
    laneName,
  );
}

/** Adds the option that names the tools that wait for approval in the session of a run. */
export function withAskBefore(command: Command): Command {
  return command.option(
    '--ask-before <tool>',
    'wait for approval before this tool; may be given again, "all" means each, "none" no ' +
      'longer any',
    gathered,
  );
}
