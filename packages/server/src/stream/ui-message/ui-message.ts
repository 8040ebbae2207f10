import type { JsonObject, JsonValue } from 'adjutant';
import { defined } from 'adjutant/text';
import type { RequestData, RequestDescription } from './chunk.ts';
import type { ToolApproval, ToolPart, UiPart, UiStep } from './part.ts';

/** Leave that a call needs, as the AI SDK has it. */
interface UiApproval {
  readonly id: string;
  readonly requestReason: string;
  readonly descriptor: RequestDescription;
  readonly approved?: boolean;
  readonly reason?: string;
}

/** A part of a message of a chat, as the AI SDK has it. */
export type UiMessagePart =
  | { readonly type: 'step-start' }
  | { readonly type: 'text'; readonly text: string; readonly state: 'streaming' | 'done' }
  | {
      readonly type: 'reasoning';
      readonly id: string;
      readonly text: string;
      readonly state: 'streaming' | 'done';
    }
  | {
      readonly type: `tool-${string}`;
      readonly toolCallId: string;
      readonly state:
        | 'input-streaming'
        | 'input-available'
        | 'approval-requested'
        | 'approval-responded'
        | 'output-available'
        | 'output-error'
        | 'output-denied';
      readonly input?: JsonValue;
      readonly output?: JsonValue;
      readonly errorText?: string;
      readonly approval?: UiApproval;
    }
  | { readonly type: 'data-request'; readonly id: string; readonly data: RequestData }
  | { readonly type: `data-${string}`; readonly id: string; readonly data: JsonValue }
  | {
      readonly type: 'steering-message';
      readonly id: string;
      readonly parts: readonly [{ readonly type: 'text'; readonly text: string }];
    };

/** A message of a chat: a `UIMessage` of the AI SDK. */
export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly metadata?: JsonObject;
  readonly parts: readonly UiMessagePart[];
}

/** The parts that a page has when all chunks of the steps have come. */
export function messageParts(steps: readonly UiStep[]): readonly UiMessagePart[] {
  return steps.flatMap(({ parts }) => [{ type: 'step-start' as const }, ...parts.map(messagePart)]);
}

function messagePart(part: UiPart): UiMessagePart {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text, state: part.isDone ? 'done' : 'streaming' };
    case 'reasoning':
      return {
        type: 'reasoning',
        id: part.id,
        text: part.text,
        state: part.isDone ? 'done' : 'streaming',
      };
    case 'tool':
      return toolPart(part);
    case 'request':
      return { type: 'data-request', id: part.id, data: part.data };
    case 'data':
      return { type: part.type, id: part.id, data: part.data };
    case 'steering':
      return {
        type: 'steering-message',
        id: part.id,
        parts: [{ type: 'text', text: part.text }],
      };
  }
}

function toolPart({ id, name, input, approval, outcome }: ToolPart): UiMessagePart {
  const call = {
    type: `tool-${name}` as const,
    toolCallId: id,
    ...defined({ input: input?.value }),
    ...(approval === undefined ? {} : { approval: approvalOf(approval) }),
  };
  switch (outcome?.type) {
    case 'output':
      return { ...call, state: 'output-available', output: outcome.output };
    case 'error':
      return { ...call, state: 'output-error', errorText: outcome.text };
    case 'denied':
      return { ...call, state: 'output-denied' };
    case undefined:
      break;
  }
  if (approval !== undefined)
    return {
      ...call,
      state: approval.answer === undefined ? 'approval-requested' : 'approval-responded',
    };
  return { ...call, state: input === undefined ? 'input-streaming' : 'input-available' };
}

function approvalOf({ id, description, answer }: ToolApproval): UiApproval {
  return { id, requestReason: description.summary, descriptor: description, ...answer };
}
