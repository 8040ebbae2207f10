import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { defined } from '../base/defined.ts';
import { coerceToJson, type JsonObject, type JsonValue } from '../base/json.ts';
import { secretsInUse } from '../base/secret.ts';
import type { Event } from '../ledger/event.ts';

type Prompt = LanguageModelV4CallOptions['prompt'];
type PromptPart = Exclude<Prompt[number]['content'], string>[number];

/**
 * Returns a value as the text of an attribute. A `secret()` shows its name only, also within other
 * text.
 */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(coerceToJson(value).value);
  return secretsInUse().reduce(
    (left, secret) => withoutSecret(left, secret.name, secret.reveal()),
    text,
  );
}

function withoutSecret(text: string, name: string, value: string): string {
  if (value === '') return text;
  const mark = `[secret ${name}]`;
  const escaped = JSON.stringify(value).slice(1, -1);
  return text.replaceAll(value, mark).replaceAll(escaped, mark);
}

/** A prompt in the form of `gen_ai.input.messages`. */
export function inputMessages(prompt: Prompt): JsonValue {
  return prompt.map(({ role, content }) => ({
    role,
    parts: typeof content === 'string' ? [textPart(content)] : content.map(partOf),
  }));
}

function textPart(content: string): JsonObject {
  return { type: 'text', content };
}

function partOf(part: PromptPart): JsonObject {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'reasoning':
      return { type: 'reasoning', content: part.text };
    case 'tool-call':
      return {
        type: 'tool_call',
        id: part.toolCallId,
        name: part.toolName,
        arguments: coerceToJson(part.input).value,
      };
    case 'tool-result':
      return {
        type: 'tool_call_response',
        id: part.toolCallId,
        result: coerceToJson(part.output).value,
      };
    default:
      // Files would fill what is made for text.
      return { type: part.type };
  }
}

/** The part of a model's answer that an event adds, in the form of `gen_ai.output.messages`. */
export function answerPart(event: Event): JsonObject | undefined {
  switch (event.type) {
    case 'assistant':
      return textPart(event.text);
    case 'thought':
      return { type: 'reasoning', content: event.text };
    case 'tool_call':
      return {
        type: 'tool_call',
        id: event.providerCallId,
        name: event.name,
        arguments: event.args,
      };
    default:
      return undefined;
  }
}

/** The parts of an answer as `gen_ai.output.messages`. */
export function outputMessages(
  parts: readonly JsonObject[],
  finishReason: string | undefined,
): JsonValue {
  return [
    {
      role: 'assistant',
      parts,
      ...defined({ finish_reason: finishReason }),
    },
  ];
}
