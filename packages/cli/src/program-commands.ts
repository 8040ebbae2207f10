import type { Command } from 'commander';
import { appName, notEmpty } from './program-values.ts';

const appDescription = 'the app whose sessions they are, as in runtime({ app }) (default: adjutant)';

/** A command that runs the agent. */
export function agentCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--model <name>', 'model, such as openai:gpt-5-mini, ollama:qwen3 or rehearsal (default: ADJUTANT_MODEL, else by the keys that are set)')
    .option('--store <file>', 'SQLite file with the ledgers (default: in your data folder, or in ADJUTANT_HOME)', notEmpty)
    .option('--app <name>', appDescription, appName)
    .option('--root <folder>', 'folder that the file tools can see (default: the present one)', notEmpty);
}

/** A command that reads ledgers, or posts to them. */
export function ledgerCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--store <file>', 'SQLite file with the ledgers (default: in your data folder, or in ADJUTANT_HOME)', notEmpty)
    .option('--app <name>', appDescription, appName);
}

/** A command that works with the user's app where there is one. */
export function configuredCommand(program: Command, name: string, description: string): Command {
  return ledgerCommand(program, name, description)
    .option('--config <file>', 'module that exports the app (default: adjutant.config.ts, .mts, .js or .mjs in the present folder)', notEmpty)
    .option('--no-config', 'the agent of the command line, also where there is such a file');
}
