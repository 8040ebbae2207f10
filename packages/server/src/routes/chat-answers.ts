import { actorOf, type RequestEntry, type Runnable } from 'adjutant';
import { SessionNotFoundError } from 'adjutant/errors';
import { defined } from 'adjutant/text';
import { isAllowed } from '../access/principal.ts';
import { chatSession } from '../http/chat-session.ts';
import type { ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { reachableRequest } from '../http/reachable-request.ts';
import type { RouteInput } from '../http/route.ts';
import type { ChatJson, ChatMessage } from '../schemas/chat.ts';
import { readChat } from '../stream/ui-message/chat-ledger.ts';
import type { ChatSubject } from '../stream/ui-message/chat-response.ts';
import { answersOf, type SaidAnswer, signatureOf } from '../stream/ui-message/sent-message.ts';

type Sent = RouteInput<unknown, unknown, ChatJson>;

/** Handles answers to requests of the run: the run goes on, and with it its answer. */
export async function continued(
  parts: ServerParts,
  input: Sent,
  agent: Runnable,
  message: ChatMessage,
): Promise<ChatSubject> {
  const { app, body, principal } = input;
  const { id: session, listing } = await chatSession(input, body.id);
  if (listing === undefined) throw new SessionNotFoundError({ session: body.id, app: app.app });
  const chat = await readChat(parts.replays, { app, session });
  const run = chat.last;
  const { answer, asked: open } = chat.conversation;
  const inputs = Object.values(open).flatMap(({ kind, callId, requestId }): [string, string][] =>
    kind === 'input' ? [[callId, requestId]] : [],
  );
  const answers = answersOf(message, new Map(inputs));
  if (answers.length === 0)
    throw new RequestRefusedError(
      409,
      'chat_nothing_said',
      'The message answers nothing that is asked for. Send a message of a user, or an approval.',
    );
  const requests = await Promise.all(answers.map((said) => assertPending(input, session, said)));
  if (run === undefined || answer === undefined || run.agent !== agent.name)
    throw new RequestRefusedError(409, 'chat_other_agent', 'Another agent asks for this.');
  for (const [index, { decision, reason, ...said }] of answers.entries()) {
    const given = 'input' in said ? { input: said.input as never } : {};
    await app.requests.answer(requests[index] as string, {
      by: principal.actor,
      decision,
      ...given,
      ...defined({ reason }),
    });
  }
  const known = { upTo: chat.head, lastStep: signatureOf(message) };
  return {
    app,
    agents: principal.agents,
    session,
    after: run.startSeq - 1,
    to: answer.id,
    restsAfter: chat.head,
    awaited: requests,
    known,
  };
}

/**
 * Checks that a caller that only chats answers approvals only where it is named: what an agent does
 * for people is not theirs to allow.
 * @throws RequestRefusedError `chat_may_not_decide` (403)
 */
function assertMayAnswer({ principal }: Sent, { kind, mayDecide, requestId }: RequestEntry): void {
  const isNamed = mayDecide?.some((name) => actorOf(name) === principal.actor) === true;
  if (kind === 'input' || isNamed || isAllowed(principal, 'operate')) return;
  throw new RequestRefusedError(
    403,
    'chat_may_not_decide',
    'Somebody else decides this: your role lets you chat, and `mayDecide` of the tool does not ' +
      'name you.',
    { requestId },
  );
}

/**
 * Nothing is answered before all answers of a message can be.
 * @returns the id of the request
 * @throws RequestNotFoundError, RequestRefusedError `chat_approval_mismatch`, `request_settled`
 * (409)
 */
async function assertPending(
  input: Sent,
  session: string,
  { requestId = '', toolCallId }: SaidAnswer,
): Promise<string> {
  const entry = await reachableRequest(input, requestId);
  if (entry.session !== session || entry.callId !== toolCallId) {
    throw new RequestRefusedError(
      409,
      'chat_approval_mismatch',
      `The request "${requestId}" is not about the call "${toolCallId}" of this chat.`,
    );
  }
  assertMayAnswer(input, entry);
  if (entry.status === 'pending') return requestId;
  throw new RequestRefusedError(
    409,
    'request_settled',
    `The request "${requestId}" was settled before (${entry.status}). Load the chat again.`,
  );
}
