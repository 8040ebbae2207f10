import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import {
  actionLine,
  nextStep,
  observationLine,
  protocolInstructions,
  type TextExample,
} from './instructions.ts';
import { unreadableAction } from './read-action.ts';

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
  const messages = merge(prompt.flatMap(toTextMessage));
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

function toTextMessage(message: LanguageModelV4Message): LanguageModelV4Message[] {
  switch (message.role) {
    case 'assistant': {
      const hasCalls = message.content.some(({ type }) => type === 'tool-call');
      const lines = message.content.flatMap((part) => assistantLines(part, hasCalls));
      return lines.length === 0
        ? []
        : [{ role: 'assistant', content: [{ type: 'text', text: lines.join('\n') }] }];
    }
    case 'tool': {
      const lines = message.content.flatMap((part) =>
        part.type === 'tool-result' ? [observation(part)] : [],
      );
      return lines.length === 0
        ? []
        : [{ role: 'user', content: [{ type: 'text', text: lines.join('\n\n') }] }];
    }
    default:
      return [message];
  }
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
          ? `Action: ${writtenText(part.input)}`
          : actionLine(part.toolName, part.input),
      ];
    default:
      return [];
  }
}

/** An unreadable action is shown as it was written. */
function writtenText(input: unknown): string {
  const text = (input as { text?: unknown } | null | undefined)?.text;
  return typeof text === 'string' ? text : JSON.stringify(input);
}

const howToWrite =
  'An action must be JSON in one line: {"tool": "name of the tool", "arguments": {"name": ' +
  '"value"}}';

function observation({ toolName, output }: LanguageModelV4ToolResultPart): string {
  const line = observationLine(toolName, textOfOutput(output));
  return toolName === unreadableAction ? `${line}\n${howToWrite}` : line;
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
