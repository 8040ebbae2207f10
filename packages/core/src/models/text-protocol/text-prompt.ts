import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { unreadableAction } from '../../ledger/tool-name.ts';
import {
  actionLine,
  nextStep,
  observationLine,
  protocolInstructions,
  type TextExample,
} from './instructions.ts';
import { unreadableObservation, unreadableText } from './unreadable-action.ts';

/** A long goal is repeated up to here. */
const longestGoal = 2_000;

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/**
 * The call as a model without tool calling gets it: tools, choice of tool and format of the answer
 * in words, calls as `Action:` and results as `Observation:`. A call without tools, and without
 * calls before it, stays as it is. A pure function: what it gives for `promptOf(session, seq)` is
 * what the model was sent.
 */
export function textPrompt(
  options: LanguageModelV4CallOptions,
  examples: readonly TextExample[] = [],
): LanguageModelV4CallOptions {
  const { prompt, tools: offered = [], toolChoice, responseFormat, ...rest } = options;
  if (!speaksProtocol(options)) return options;
  const tools = offered.filter(
    (tool): tool is LanguageModelV4FunctionTool => tool.type === 'function',
  );
  const usable = toolChoice?.type === 'none' ? [] : tools;
  const hasWorked = prompt.some(({ role }) => role === 'tool');
  const toText = textMessages(prompt, tools);
  const messages = merge(prompt.flatMap(toText));
  const last = nextStep(toolChoice, usable, hasWorked ? goalOf(prompt) : undefined);
  return {
    ...rest,
    prompt: withLastWords(
      withInstructions(messages, protocolInstructions(tools, responseFormat, examples)),
      last,
    ),
    // Providers that support it charge nothing for invented observations.
    stopSequences: [...(options.stopSequences ?? []), '\nObservation'],
  };
}

/** True when the call is put into words: it has tools, or it follows calls of tools. */
export function speaksProtocol({ prompt, tools = [] }: LanguageModelV4CallOptions): boolean {
  return (
    tools.some(({ type }) => type === 'function') || prompt.some(({ role }) => role === 'tool')
  );
}

function textMessages(
  prompt: LanguageModelV4Prompt,
  tools: readonly LanguageModelV4FunctionTool[],
): (message: LanguageModelV4Message) => LanguageModelV4Message[] {
  const unreadable = unreadableInputs(prompt);
  return (message) => {
    switch (message.role) {
      case 'assistant': {
        const hasCalls = message.content.some(({ type }) => type === 'tool-call');
        const lines = message.content.flatMap((part) => assistantLines(part, hasCalls));
        return lines.length === 0
          ? []
          : [{ role: 'assistant', content: [{ type: 'text', text: lines.join('\n') }] }];
      }
      case 'tool': {
        const lines = message.content.flatMap((part) => {
          if (part.type !== 'tool-result') return [];
          return part.toolName === unreadableAction
            ? [unreadableObservation(unreadable.get(part.toolCallId), tools)]
            : [observationLine(part.toolName, textOfOutput(part.output))];
        });
        return lines.length === 0
          ? []
          : [{ role: 'user', content: [{ type: 'text', text: lines.join('\n\n') }] }];
      }
      default:
        return [message];
    }
  };
}

/** The unreadable actions of a conversation, by the ids of their calls. */
function unreadableInputs(prompt: LanguageModelV4Prompt): ReadonlyMap<string, unknown> {
  const inputs = new Map<string, unknown>();
  for (const message of prompt) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content)
      if (part.type === 'tool-call' && part.toolName === unreadableAction)
        inputs.set(part.toolCallId, part.input);
  }
  return inputs;
}

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

function assistantLines(part: AssistantPart, hasCalls: boolean): string[] {
  switch (part.type) {
    case 'reasoning':
      return part.text === '' ? [] : [`Thought: ${part.text}`];
    case 'text':
      return part.text === '' ? [] : [`${hasCalls ? 'Thought' : 'Final Answer'}: ${part.text}`];
    case 'tool-call':
      return [
        part.toolName === unreadableAction
          ? `Action: ${unreadableText(part.input)}`
          : actionLine(part.toolName, part.input),
      ];
    default:
      return [];
  }
}

function textOfOutput(output: LanguageModelV4ToolResultPart['output']): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return `The call was not allowed${output.reason === undefined ? '.' : `: ${output.reason}`}`;
    case 'content':
      return output.value
        .map((part) => (part.type === 'text' ? part.text : `[${part.type}]`))
        .join('\n');
  }
}

/** The beginning of the conversation. */
function goalOf(prompt: LanguageModelV4Prompt): string | undefined {
  const first = prompt.find((message) => message.role === 'user');
  if (first === undefined) return undefined;
  const text = first.content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim();
  if (text === '') return undefined;
  return text.length <= longestGoal ? text : `${text.slice(0, longestGoal)}…`;
}

/**
 * One message for all that follow each other with the same role: the templates of many open models
 * refuse others.
 */
function merge(messages: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  const merged: LanguageModelV4Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === 'user' && message.role === 'user') {
      merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] };
    } else merged.push(message);
  }
  return merged;
}

function withInstructions(
  messages: readonly LanguageModelV4Message[],
  instructions: string,
): LanguageModelV4Message[] {
  const [first, ...others] = messages;
  if (first?.role !== 'system') return [{ role: 'system', content: instructions }, ...messages];
  return [{ ...first, content: `${first.content}\n\n${instructions}` }, ...others];
}

/** At the end, so that the messages before it stay the same from round to round. */
function withLastWords(
  messages: readonly LanguageModelV4Message[],
  words: string | undefined,
): LanguageModelV4Message[] {
  if (words === undefined) return [...messages];
  const part: UserPart = { type: 'text', text: words };
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: [part] }];
  return [...messages.slice(0, -1), { ...last, content: [...last.content, part] }];
}
