import { z } from '@hono/zod-openapi';
import { chatSession } from '../http/chat-session.ts';
import type { AddRoutes } from '../http/parts.ts';
import { reachableAgent } from '../http/reachable.ts';
import { addRoute, defineRoute } from '../http/route.ts';
import { agentPathSchema } from '../schemas/agent.ts';
import { messagesQuerySchema, uiMessagesSchema } from '../schemas/chat.ts';
import { sessionPathSchema } from '../schemas/common.ts';
import { uiMessages } from '../stream/ui-message/messages.ts';

const listMessages = defineRoute({
  method: 'get',
  path: '/v1/agents/{agent}/chat/{session}/messages',
  permission: 'read',
  operationId: 'listChatMessages',
  tag: 'Agents',
  summary: 'What was said in a chat',
  description:
    'As `UIMessage[]` of the AI SDK, for the `messages` of `useChat` of a page that is opened ' +
    'again. A chat that has not begun has none.',
  params: z.strictObject({ ...agentPathSchema.shape, ...sessionPathSchema.shape }),
  query: messagesQuerySchema,
  answers: { 200: { description: 'The messages', schema: uiMessagesSchema } },
});

/** Adds the route of the messages of a chat. */
export const addChatMessagesRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, listMessages, async (input) => {
    const { app, params, principal, query, request } = input;
    reachableAgent(input, params.agent);
    const { id: session, listing } = await chatSession(input, params.session);
    if (listing === undefined)
      return { status: 200, body: { messages: [], isOpen: false, seq: 0 } };
    const { messages, isOpen, seq } = await replays.answerInTurn(principal, request.signal, () =>
      uiMessages(app, session, { open: query.open }),
    );
    const shown = messages.map(({ parts, ...message }) => ({
      ...message,
      parts: parts.map((part) => ({ ...part })),
    }));
    return { status: 200, body: { session, messages: shown, isOpen, seq } };
  });
};
