import { z } from '@hono/zod-openapi';
import { isAdjutantError, type JsonObject, type Run, type Runnable } from 'adjutant';
import { SessionNotFoundError } from 'adjutant/errors';
import { defined } from 'adjutant/text';
import { chatSession } from '../http/chat-session.ts';
import type { AddRoutes, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { reachableAgent } from '../http/reachable.ts';
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
import { sentMessage, textOfMessage } from '../stream/ui-message/sent-message.ts';
import { continued } from './chat-answers.ts';
import { assertTakesFields, fieldsOf } from './chat-fields.ts';
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
  addRoute(api, sendChat, async (input) => {
    const agent = reachableAgent(input, input.params.agent);
    const message = sentMessage(input.body);
    await assertTakesFields(agent, input.body);
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
    return begun(parts, input, {
      ...{ agent, session, chat, to, text, data: fieldsOf(body) },
      isNew: listing === undefined,
    });
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
  /** Data for a run that begins with it. */
  readonly data: JsonObject | undefined;
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
  const { agent, session, chat, to, text, data, isNew } = message;
  const { app, principal } = input;
  const place = isNew
    ? await app.sessions.open({
        id: session,
        ...defined({ userId: principal.user }),
      })
    : session;
  const isOpen = chat.last?.status === 'open';
  const run = app.run(agent, {
    session: place,
    runId: to,
    input: text,
    ...defined({ data: isOpen ? undefined : data }),
  });
  parts.metrics.runAsked(agent.name, to, run);
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
 * it, and what it does then is the answer to the message.
 * @returns `undefined` when nothing waits for it
 */
async function takenAsAnswer(
  { app, principal }: Sent,
  { chat, session, text, to }: NewMessage,
): Promise<ChatSubject | undefined> {
  const { asked: open } = chat.conversation;
  const { last } = chat;
  const inputs = Object.values(open).filter(({ kind }) => kind === 'input');
  const [question] = inputs;
  if (question === undefined || inputs.length > 1 || last?.status !== 'open') return undefined;
  const { requestId } = question;
  try {
    await app.requests.answer(requestId, {
      decision: 'answer',
      input: text,
      by: principal.actor,
      clientKey: to,
    });
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
    to,
    restsAfter: chat.head,
    awaited: [requestId],
  };
}
