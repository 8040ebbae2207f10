import type { Command } from 'commander';
import { UsageError } from '../failure.ts';
import { sessionId } from './option-values.ts';

/** Name of the newest session of the project. */
const newest = 'last';

export interface SessionFlag {
  readonly session?: string;
}

/** Adds the session of a command, as its argument or as a flag. */
export function withSessionArgument(command: Command, what = 'id of the session'): Command {
  return command
    .argument('[session]', `${what} (default: the last session)`, sessionId)
    .option('--session <id>', 'the session, in the place of the argument', sessionId);
}

/**
 * Returns the session that is named by an argument or by the flag.
 * @throws UsageError when both name one
 */
export function namedBy(
  argument: string | undefined,
  { session }: SessionFlag,
): string | undefined {
  if (argument !== undefined && session !== undefined)
    throw new UsageError({
      reason: `The session is named twice, as ${argument} and by --session: leave one of them out.`,
    });
  return argument ?? session;
}

/** Returns the same, else the last session. @throws UsageError */
export function givenSession(argument: string | undefined, flag: SessionFlag): string {
  return namedBy(argument, flag) ?? newest;
}
