import type { JsonValue } from 'adjutant';
import { defined } from 'adjutant/text';
import { RequestRefusedError } from '../../http/problem.ts';
import { assertFits } from '../../http/validation.ts';
import {
  approvalPartSchema,
  type ChatJson,
  type ChatMessage,
  chatMessageSchema,
  outputPartSchema,
} from '../../schemas/chat.ts';
import { stepSignature } from './answer-teller.ts';
import type { RequestData } from './chunk.ts';
import type { UiPart } from './part.ts';

/** Answer that a person gives in a chat to a request. */
export interface SaidAnswer {
  readonly toolCallId: string;
  /** Named by approvals; of what a tool asked for only the call is known. */
  readonly requestId?: string;
  readonly decision: 'approve' | 'reject' | 'answer';
  readonly input?: JsonValue;
  readonly reason?: string;
}

/**
 * The message that is sent. All others only show what was said before, and are not even looked at.
 * @throws RequestRefusedError `invalid_request`, `chat_message_missing` (400)
 */
export function sentMessage({ messages, messageId, trigger }: ChatJson): ChatMessage {
  const last = messages.length - 1;
  // A message that is to be answered anew is not among them any more.
  const isLast = messageId === undefined || trigger === 'regenerate-message';
  const sent = isLast
    ? last
    : messages.findIndex((message) => isObject(message) && message['id'] === messageId);
  if (sent >= 0) return assertFits(chatMessageSchema, messages[sent], `body.messages.${sent}`);
  throw new RequestRefusedError(
    400,
    'chat_message_missing',
    `There is no message "${messageId}" among the messages. Send the one that ` +
      '`messageId` names with them.',
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** @throws RequestRefusedError `chat_part_unsupported`, `chat_message_empty` (400) */
export function textOfMessage({ parts }: ChatMessage): string {
  const texts = parts.map(({ type, text }) => {
    if (type !== 'text' || typeof text !== 'string') {
      throw new RequestRefusedError(
        400,
        'chat_part_unsupported',
        `A message can have text, and no part of the type "${type}". Leave it out, and put what ` +
          'it says into the text, or give the agent a tool that reads it.',
        {
          type,
        },
      );
    }
    return text;
  });
  const text = texts.join('\n\n');
  if (text.trim() === '')
    throw new RequestRefusedError(
      400,
      'chat_message_empty',
      'The message has no text. Write something.',
    );
  return text;
}

/**
 * Returns the answers in a message of the agent that came back: approvals and inputs for tools.
 * @param asked calls that ask for input
 * @throws RequestRefusedError `chat_approval_malformed` (400)
 */
export function answersOf(
  { parts }: ChatMessage,
  asked: ReadonlyMap<string, string>,
): readonly SaidAnswer[] {
  return parts.flatMap((part): SaidAnswer[] => {
    if (!isToolPart(part)) return [];
    if (part['state'] === 'approval-responded') return [approvalOf(part)];
    const requestId = asked.get(String(part['toolCallId']));
    const output = outputPartSchema.safeParse(part);
    if (requestId === undefined || !output.success) return [];
    const { toolCallId } = output.data;
    if (output.data.state === 'output-error')
      return [
        { toolCallId, requestId, decision: 'reject', reason: String(output.data['errorText']) },
      ];
    return [
      { toolCallId, requestId, decision: 'answer', input: output.data['output'] as JsonValue },
    ];
  });
}

function isToolPart({ type }: ChatMessage['parts'][number]): boolean {
  return type === 'dynamic-tool' || type.startsWith('tool-');
}

function approvalOf(part: ChatMessage['parts'][number]): SaidAnswer {
  const parsed = approvalPartSchema.safeParse(part);
  if (!parsed.success)
    throw new RequestRefusedError(
      400,
      'chat_approval_malformed',
      'An approval of the message lacks its `id`, its `approved` or its `toolCallId`.',
    );
  const { toolCallId, approval } = parsed.data;
  const { id: requestId, approved, reason } = approval;
  return {
    toolCallId,
    requestId,
    decision: approved ? 'approve' : 'reject',
    ...defined({ reason }),
  };
}

/** Of a question only its id is looked at. */
const noData: RequestData = {
  requestId: '',
  kind: '',
  toolCallId: '',
  toolName: '',
  status: 'pending',
  summary: '',
  options: [],
};

/** Names what a page has of the last step of an answer, as `stepSignature` does. */
export function signatureOf({ parts }: ChatMessage): string {
  const start = parts.findLastIndex(({ type }) => type === 'step-start');
  const known = parts.slice(start + 1).flatMap((part): UiPart[] => {
    const { type, text, id, toolCallId } = part;
    if (type === 'text' || type === 'reasoning')
      return [{ kind: type, id: '', text: String(text), isDone: true }];
    if (type === 'steering-message') return [{ kind: 'steering', id: String(id), text: '' }];
    if (type === 'data-request') return [{ kind: 'request', id: String(id), data: noData }];
    if (type.startsWith('data-'))
      return [{ kind: 'data', type: type as `data-${string}`, id: String(id), data: null }];
    return isToolPart(part)
      ? [{ kind: 'tool', id: String(toolCallId), name: '', inputText: '' }]
      : [];
  });
  return stepSignature({ parts: known });
}
