import type { Answer } from '@adjutant/server/client';
import type { RequestEntry } from 'adjutant';
import { commandText } from '../actions/carry-out.ts';
import { type GivenAnswer, readAnswer, refusalOf } from '../actions/given-value.ts';
import { runOf } from '../app/open-run.ts';
import { exitCodes, UsageError } from '../failure.ts';
import { sayAnswered } from '../output/answered.ts';
import { notice } from '../output/notice.ts';
import type { AnswerContext } from './app-access.ts';
import { openClient } from './open-client.ts';
import type { RemoteOptions, ServerFlags } from './server-flags.ts';
import { eventsOf } from './server-session.ts';
import { showRun } from './show-server-run.ts';

interface RemoteAnswerContext extends AnswerContext {
  readonly options: AnswerContext['options'] & RemoteOptions<ServerFlags>;
}

/**
 * `adjutant approve|reject|edit|answer <id> --server <url>`: answers a request, and shows the
 * continued run of the server.
 */
export async function answerRemotely(
  context: RemoteAnswerContext,
  requestId: string,
  { by, ...given }: GivenAnswer,
): Promise<number> {
  const { host, options } = context;
  if (by !== undefined)
    throw new UsageError({
      reason: '--by: a server takes the name of who answers from the key. Leave it out.',
    });
  const client = await openClient(host, options);
  const request = await client.approvals.get(requestId);
  const { session, invocationId } = request;
  const command = commandText(options);
  const asked = request as Pick<RequestEntry, 'requestId' | 'kind' | 'inputSchema'>;
  const answer = readAnswer(asked, given, command);
  const give = async (): Promise<void> => {
    await client.approvals.answer(requestId, answer as Answer).catch((error: unknown) => {
      throw refusalOf(error, asked, answer, command);
    });
    sayAnswered(host, options, request, answer.decision);
  };
  if (!options.continue) {
    await give();
    if (options.json !== true) notice(host, 'The run goes on at the server.');
    return exitCodes.ok;
  }
  return showRun(context, client, async () => {
    const before = await eventsOf(client, session);
    await give();
    return { session, run: runOf(invocationId), before };
  });
}
