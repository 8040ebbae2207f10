import { checkRunnable } from '../engine/frame/run-options.ts';
import type { Runtime } from '../runtime.ts';
import type { OutputOf, Runnable } from '../session/runnable.ts';
import type { ConversationResult, ConverseOptions } from './conversation-options.ts';
import { driveConversation } from './drive.ts';

/**
 * Lets a runnable and a user talk, until one of the two has nothing more to say: the user answers
 * the requests of the run and says the next message. Called again on the same session, the
 * conversation goes on where the ledger stands.
 * @throws InvalidOptionError, UnansweredRequestError, UserAnswerRefusedError, any error that the
 * user throws, and the errors that reject a run
 */
export async function converse<R extends Runnable>(
  app: Runtime,
  runnable: R,
  options: ConverseOptions,
): Promise<ConversationResult<OutputOf<R>>> {
  checkRunnable(runnable);
  return (await driveConversation(app, runnable, options)) as ConversationResult<OutputOf<R>>;
}
