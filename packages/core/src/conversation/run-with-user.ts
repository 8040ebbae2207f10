import type { Runtime } from '../runtime.ts';
import type { OutputOf, Runnable } from '../session/runnable.ts';
import type { ConversationResult, RunWithUserOptions } from './conversation-options.ts';

export interface RunWithUserInAppOptions extends RunWithUserOptions {
  /** The app to run in. @default that of the session, else one of its own in memory */
  readonly runner?: Runtime;
}

/**
 * Runs in memory, or on the runtime of the given session, and lets a user say and answer what the
 * run needs; as `app.runWithUser`.
 * @throws InvalidOptionError, UnansweredRequestError, UserAnswerRefusedError, whatever the user
 * throws, and what keeps a run from being carried out
 */
export async function runWithUser<R extends Runnable>(
  runnable: R,
  options: RunWithUserInAppOptions,
): Promise<ConversationResult<OutputOf<R>>> {
  const { runner, ...rest } = options;
  // Loaded with the first use: most tests of stores and models need no runtime.
  const { runtimeOf } = await import('../runtime.ts');
  return (runner ?? runtimeOf(rest.session)).runWithUser(runnable, rest);
}
