import { defined } from '../../../base/defined.ts';
import type { EventOf } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { belongsTo } from '../../../ledger/path.ts';
import { postAnswer } from '../../../session/answer.ts';
import { isQuestion } from '../../../session/pending-request.ts';
import { mismatchWithShown, validateInput } from '../../../tools/validate.ts';
import type { AppServices } from '../../frame/app-services.ts';

interface NewMessage {
  readonly text: string | undefined;
  /** Key under which the message counts once. */
  readonly clientKey: string | undefined;
}

/**
 * Posts a message to a waiting run as an answer when it fits. It fits when one call waits for input
 * that any person may give, and its schema accepts a text. Returns false for any other message; the
 * model reads that in the next prompt.
 */
export async function postAsAnswer(
  app: AppServices,
  ledger: Ledger,
  runId: string,
  { text, clientKey }: NewMessage,
): Promise<boolean> {
  const asked = [...ledger.requests.values()].filter(
    ({ kind, invocationId }) => kind === 'input' && belongsTo(invocationId, runId),
  );
  const [request] = asked;
  if (
    text === undefined ||
    request === undefined ||
    asked.length > 1 ||
    ledger.accepted.has(request.requestId)
  )
    return false;
  if (!(await isWanted(app, request, text))) return false;
  await postAnswer(ledger, request.requestId, {
    decision: 'answer',
    input: text,
    by: 'user',
    ...defined({ clientKey }),
  });
  return true;
}

async function isWanted(
  { registry, tools }: AppServices,
  asked: EventOf<'tool_yield'>,
  text: string,
): Promise<boolean> {
  const { name, request } = asked;
  if (isQuestion(asked) && request.mayDecide === undefined)
    return (await mismatchWithShown(name, request.inputSchema ?? {}, text)) === undefined;
  const tool = registry.findTool(request.agent, name) ?? tools.get(name);
  if (tool === undefined || request.mayDecide !== undefined) return false;
  return (await validateInput(tool, text)).ok;
}
