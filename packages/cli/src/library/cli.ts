import type { Runnable } from 'adjutant';
import { checkCall } from './check-call.ts';
import type { CliOptions, CliOutcome } from './options.ts';
import { TerminalInUseError } from './terminal-in-use.ts';

let isOpen = false;

/**
 * Opens the terminal app with a runnable of this program, and resolves when it is left. Without a
 * terminal the input is run once and its answer printed; without an input, each line of standard
 * input is a message.
 * @param input first message
 * @throws InvalidOptionError, TerminalInUseError
 * @example
 * ```ts
 * import { cli } from '@adjutant/cli';
 * import { agent, rehearsal } from 'adjutant';
 *
 * const clerk = agent({ name: 'clerk', model: rehearsal() });
 * const { exitCode } = await cli(clerk, 'What can you do?');
 * process.exitCode = exitCode;
 * ```
 */
export async function cli(
  runnable: Runnable,
  input?: string,
  options: CliOptions = {},
): Promise<CliOutcome> {
  checkCall(runnable, input, options);
  if (isOpen) throw new TerminalInUseError();
  isOpen = true;
  try {
    // Ink and React are loaded with the first terminal.
    const { converse } = await import('./converse.ts');
    return await converse(runnable, input, options);
  } finally {
    isOpen = false;
  }
}
