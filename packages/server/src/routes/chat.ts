import { z } from '@hono/zod-openapi';
import { actorOf, isAdjutantError, type RequestEntry, type Run, type Runnable } from 'adjutant';
import { SessionNotFoundError } from 'adjutant/errors';
import { defined } from 'adjutant/text';
import { isAllowed } from '../access/principal.ts';
import { chatSession } from '../http/chat-session.ts';
import type { AddRoutes, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { reachableAgent } from '../http/reachable.ts';
import { reachableRequest } from '../http/reachable-request.ts';
import { addRoute, defineRoute, type RouteInput } from '../http/route.ts';
import { agentPathSchema } from '../schemas/agent.ts';
import {
  type ChatJson,
  type ChatMessage,
  chatMessageSchema,
  chatSchema,
  resumeQuerySchema,
} from '../schemas/chat.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import { chatKeyOf } from '../stream/ui-message/chat-key.ts';
import {
  type ChatLedger,
  type ChatRun,
  emptyChat,
  readChat,
} from '../stream/ui-message/chat-ledger.ts';
import { type ChatSubject, chatResponse } from '../stream/ui-message/chat-response.ts';
import {
  answersOf,
  type SaidAnswer,
  sentMessage,
  signatureOf,
  textOfMessage,
} from '../stream/ui-message/sent-message.ts';
import { reportFailure } from './started-run.ts';

const stream = {
  description: 'The answer, as a UI message stream of the AI SDK',
  contentType: 'text/event-stream',
  headers: {
    'x-vercel-ai-ui-message-stream': '`v1`.',
    Location: 'Address of the session that the chat is kept in.',
  },
};

const sendChat = defineRoute({
  method: 'post',
  path: '/v1/agents/{agent}/chat',
  permission: 'chat',
  operationId: 'sendChat',
  tag: 'Agents',
  summary: 'A message of a chat, or what is said to an approval in it',
  description:
    'For `useChat` of the AI SDK with its default transport. The last message is the input ' +
    'of a run, once for each id of a message; approvals and outputs ' +
    'of tools in an assistant message answer what the run asks for. Earlier messages are ' +
    'not read: the ledger says what was said. A run goes on when the ' +
    'connection is lost.',
  params: agentPathSchema,
  body: chatSchema,
  answers: { 200: stream },
});

const resumeChat = defineRoute({
  method: 'get',
  path: '/v1/agents/{agent}/chat/{session}/stream',
  permission: 'read',
  operationId: 'resumeChat',
  tag: 'Agents',
  summary: 'The answer that is under way in a chat',
  description:
    'For `resume` of `useChat`: the answer from its beginning, with what has been written ' +
    'of it so far, and then the rest.',
  params: z.strictObject({ ...agentPathSchema.shape, ...sessionPathSchema.shape }),
  query: resumeQuerySchema,
  answers: { 200: stream, 204: { description: 'Nothing is under way' } },
});

type Sent = RouteInput<unknown, unknown, ChatJson>;
type Asking = Omit<Sent, 'body'>;

/**
 * Chats: conversations with an agent as `useChat` of the AI SDK holds them. The id of a chat is
 * that of its session, or stands for one of the user's.
 */
export const addChatRoutes: AddRoutes = (api, parts) => {
  // The schema of what is sent only names it.
  api.openAPIRegistry.register('ChatMessage', chatMessageSchema);
  addRoute(api, sendChat, (input) => {
    const agent = reachableAgent(input, input.params.agent);
    const message = sentMessage(input.body);
    return parts.streams.holding(input.principal, async (place) =>
      chatResponse(parts, input, await said(parts, input, agent, message), place),
    );
  });
  addRoute(api, resumeChat, async (input) => {
    const { app, params, query, context } = input;
    const agent = reachableAgent(input, params.agent);
    const { id, listing } = await chatSession(input, params.session);
    // A chat that has not begun is no fault of the page that opens it.
    const chat =
      listing === undefined ? emptyChat : await readChat(parts.replays, { app, session: id });
    const run = chat.last;
    const to = chat.conversation.next.at(-1) ?? chat.conversation.answer?.id;
    if (run === undefined || to === undefined || run.agent !== agent.name)
      return context.body(null, 204);
    if (run.status !== 'open' && !query.ended) return context.body(null, 204);
    const subject = told(input, id, chat, run, to);
    return parts.streams.holding(input.principal, async (place) =>
      chatResponse(parts, input, subject, place),
    );
  });
};

/** Does what a message says. @returns the answer that it gets */
async function said(
  parts: ServerParts,
  input: Sent,
  agent: Runnable,
  message: ChatMessage,
): Promise<ChatSubject> {
  switch (message.role) {
    case 'assistant':
      return continued(parts, input, agent, message);
    case 'user':
      return asked(parts, input, agent, message);
    case 'system':
      throw new RequestRefusedError(
        400,
        'chat_role_unsupported',
        'A message of the role "system" cannot be sent: the agent has its own instructions.',
      );
  }
}

/** Returns the answer to an input, from its beginning to the end or the next wait of its run. */
function told(
  { app, principal: { agents } }: Asking,
  session: string,
  { head }: ChatLedger,
  { startSeq, restSeq }: ChatRun,
  to: string,
): ChatSubject {
  return {
    app,
    agents,
    session,
    after: startSeq - 1,
    to,
    restsAfter: restSeq === undefined ? head : restSeq - 1,
    awaited: [],
  };
}

/** Handles a message of a person to the agent. */
async function asked(
  parts: ServerParts,
  input: Sent,
  agent: Runnable,
  message: ChatMessage,
): Promise<ChatSubject> {
  const { app, body } = input;
  const { trigger } = body;
  const text = textOfMessage(message);
  const { id: session, listing, isOutOfReach } = await chatSession(input, body.id);
  if (isOutOfReach) throw new SessionNotFoundError({ session: body.id, app: app.app });
  const chat = listing === undefined ? emptyChat : await readChat(parts.replays, { app, session });
  const to = chatKeyOf(message.id);
  const before = chat.input(to);
  if (before === undefined)
    return begun(parts, input, { agent, session, chat, to, text, isNew: listing === undefined });
  if (!before.isText(text))
    throw new RequestRefusedError(
      409,
      'chat_message_changed',
      'The message was sent before with another text, and the ledger keeps it.',
    );
  const run = chat.run(before.run);
  if (run === undefined || run.agent !== agent.name)
    throw new RequestRefusedError(
      409,
      'chat_other_agent',
      'The message was sent to another agent.',
    );
  if (trigger === 'submit-message' || run.status === 'open')
    return told(input, session, chat, run, to);
  return again(parts, input, session, chat, run, to);
}

interface NewMessage {
  readonly agent: Runnable;
  readonly session: string;
  readonly chat: ChatLedger;
  readonly to: string;
  readonly text: string;
  /** True when the session is to be made. */
  readonly isNew: boolean;
}

/**
 * A message that the ledger does not have yet begins a run, or goes to the one that is open. While
 * that waits for something else, the message waits as well: the next prompt has it.
 */
async function begun(parts: ServerParts, input: Sent, message: NewMessage): Promise<ChatSubject> {
  const taken = await takenAsAnswer(input, message);
  if (taken !== undefined) return taken;
  const { agent, session, chat, to, text, isNew } = message;
  const { app, principal } = input;
  const place = isNew
    ? await app.sessions.open({
        id: session,
        ...defined({ userId: principal.user }),
      })
    : session;
  const run = app.run(agent, { session: place, runId: to, input: text });
  parts.metrics.runStarted(agent.name, run);
  await accepted(parts, input, run);
  const open = chat.last;
  const after = open?.status === 'open' ? open.startSeq - 1 : chat.head;
  return { app, agents: principal.agents, session, after, to, restsAfter: chat.head, awaited: [] };
}

/** Retries a failed run at the point of its failure; answers that were given stay. */
async function again(
  parts: ServerParts,
  input: Sent,
  session: string,
  chat: ChatLedger,
  run: ChatRun,
  to: string,
): Promise<ChatSubject> {
  const { app, principal } = input;
  if (run.status === 'completed' || chat.last?.id !== run.id)
    throw new RequestRefusedError(
      409,
      'chat_answer_stands',
      'The message has its answer, and the ledger keeps it.',
    );
  await app.sessions.reopen(session, {
    reason: 'asked for again in the chat',
    by: principal.actor,
  });
  await accepted(parts, input, app.resume(session));
  return {
    app,
    agents: principal.agents,
    session,
    after: run.startSeq - 1,
    to,
    restsAfter: chat.head,
    awaited: [],
  };
}

async function accepted(parts: ServerParts, input: Sent, run: Run): Promise<void> {
  await run.accepted();
  run.catch((error: unknown) => reportFailure(parts, input, error));
}

/**
 * Gives a message to the tool that waits for one, if its schema takes a text: the run goes on with
 * it, and so does its answer.
 * @returns `undefined` when nothing waits for it
 */
async function takenAsAnswer(
  { app, principal }: Sent,
  { chat, session, text }: NewMessage,
): Promise<ChatSubject | undefined> {
  const { asked: open, answer } = chat.conversation;
  const { last } = chat;
  const inputs = Object.values(open).filter(({ kind }) => kind === 'input');
  const [question] = inputs;
  if (question === undefined || inputs.length > 1 || last?.status !== 'open') return undefined;
  const { requestId } = question;
  try {
    await app.requests.answer(requestId, { decision: 'answer', input: text, by: principal.actor });
  } catch (error) {
    const isOther = ['input_mismatch', 'request_settled', 'may_not_decide'].some((code) =>
      isAdjutantError(error, code),
    );
    if (isOther) return undefined;
    throw error;
  }
  return {
    app,
    agents: principal.agents,
    session,
    after: last.startSeq - 1,
    to: answer?.id ?? last.id,
    restsAfter: chat.head,
    awaited: [requestId],
  };
}

/** Handles answers to requests of the run: the run goes on, and with it its answer. */
async function continued(
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
