import type { Command } from 'commander';
import type { EarlyTerminal } from '../host/first-words.ts';
import type { Host } from '../host/host.ts';
import type { Interruption } from '../host/interruption.ts';

/** Parts of the program that the actions of commands need. */
export interface CommandParts {
  readonly host: Host;
  readonly interruption: Interruption;
  /** The terminal, if it was taken for the app before the program was loaded. */
  readonly early?: EarlyTerminal | undefined;
  readonly onExitCode: (code: number) => void;
}

/** Adds a command with its flags to the program. */
export type AddCommand = (program: Command, parts: CommandParts) => void;
