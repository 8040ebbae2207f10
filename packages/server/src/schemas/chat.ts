import { z } from '@hono/zod-openapi';
import { flagSchema, idSchema, newIdSchema } from './common.ts';

const longestReason = 10_000;
const mostParts = 1_000;
const mostMessages = 10_000;

/** A part of a message; which members it has depends on its type. */
const partSchema = z.looseObject({ type: z.string() }).openapi('ChatPart', {
  description: 'A part of a message, as the AI SDK has it.',
  example: { type: 'text', text: 'Where is my order?' },
});

export const chatMessageSchema = z
  .looseObject({
    id: idSchema,
    role: z.enum(['system', 'user', 'assistant']),
    parts: z.array(partSchema).max(mostParts),
  })
  .openapi('ChatMessage', { description: 'A `UIMessage` of the AI SDK.' });

export type ChatMessage = z.infer<typeof chatMessageSchema>;

export const chatSchema = z
  .looseObject({
    id: newIdSchema.openapi({
      description:
        'Id of the chat, which is that of the session. One that does not exist is made. ' +
        'For callers that are bound to a user it names a chat of that user, in a session ' +
        'of its own whose address the answer has, unless it is the id of a session of the ' +
        'user.',
      example: 'chat-7',
    }),
    messages: z
      .array(z.unknown().openapi({ $ref: '#/components/schemas/ChatMessage' } as object))
      .min(1)
      .max(mostMessages)
      .openapi({
        description:
          'Only the message that is sent is read, which is the last one. What was said ' +
          'before is in the ledger.',
      }),
    trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
    messageId: idSchema
      .optional()
      .openapi({ description: 'Which message is sent. Missing: the last one.' }),
  })
  .openapi('Chat', {
    description:
      'What the `DefaultChatTransport` of the AI SDK sends. Other members are the data that a ' +
      'run begins with: the `input` of the agent checks them, and without one they are refused.',
    example: {
      id: 'chat-7',
      trigger: 'submit-message',
      messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Where is my order?' }] }],
    },
  });

export const resumeQuerySchema = z.strictObject({
  ended: flagSchema.openapi({
    description:
      'True to be told the last answer also when its run has ended. Otherwise 204 is the ' +
      'answer then.',
  }),
});

export const messagesQuerySchema = z.strictObject({
  open: flagSchema.openapi({
    description:
      'True to have the answer of an open run as well, as far as it is. Otherwise it is left ' +
      'out, because resuming the stream brings it.',
  }),
});

export const uiMessagesSchema = z
  .object({
    session: z.string().optional().openapi({
      description: 'Id of the session that the chat is kept in. Missing: it has not begun.',
    }),
    messages: z.array(
      z.object({
        id: z.string(),
        role: z.enum(['user', 'assistant']),
        metadata: z.looseObject({}).optional(),
        parts: z.array(partSchema),
      }),
    ),
    isOpen: z.boolean().openapi({
      description: 'True while the last run is at work or waits: its answer grows further.',
    }),
    seq: z.int().min(0).openapi({ description: '`seq` of the last event that was read.' }),
  })
  .openapi('UIMessages', { description: 'Messages of a chat, as `useChat` takes them.' });

export type ChatJson = z.infer<typeof chatSchema>;

/** Part by which a person approves or rejects. */
export const approvalPartSchema = z.looseObject({
  type: z.string(),
  toolCallId: z.string(),
  state: z.literal('approval-responded'),
  approval: z.looseObject({
    id: z.string().min(1),
    approved: z.boolean(),
    reason: z.string().max(longestReason).optional(),
  }),
});

/** A part by which a page gives what a tool asked for. */
export const outputPartSchema = z.union([
  z.looseObject({
    type: z.string(),
    toolCallId: z.string(),
    state: z.literal('output-available'),
    output: z.unknown(),
  }),
  z.looseObject({
    type: z.string(),
    toolCallId: z.string(),
    state: z.literal('output-error'),
    errorText: z.string().max(longestReason),
  }),
]);
