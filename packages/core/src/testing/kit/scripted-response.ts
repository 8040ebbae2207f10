import type { JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isAnything,
  isFlag,
  isGroup,
  isList,
  isListOfText,
  isNonEmptyText,
  isNotNegative,
  isObject,
  isOneOf,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import type { Usage } from '../../ledger/event.ts';

export interface ScriptedToolCall {
  readonly name: string;
  /** A string is sent as it is, so that it can be broken JSON. @default {} */
  readonly args?: JsonValue;
  /** @default `call_1`, `call_2`, … */
  readonly providerCallId?: string;
}

/**
 * One answer of a scripted model. Parts may be combined as far as one does not rule the other out;
 * an empty object is an empty answer.
 */
export interface ScriptedResponse {
  readonly text?: string;
  /** The text as the deltas it comes in, in the place of `text`. */
  readonly chunks?: readonly string[];
  /** Milliseconds between two chunks. @default 0 */
  readonly chunkDelayMs?: number;
  readonly thoughts?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** @default 10 input and 5 output tokens; `null` reports none */
  readonly usage?: Usage | null;
  /** @default 'tool-calls' when there are tool calls, else 'stop' */
  readonly finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  /** Thrown by the call in the place of an answer. */
  readonly error?: unknown;
  /** Streamed as an error after everything else, instead of the end. */
  readonly streamError?: unknown;
  /** Ends the stream without a finish, as a lost connection may. */
  readonly cut?: boolean;
  /** Milliseconds before the call answers; an abort ends the wait. */
  readonly delayMs?: number;
}

const usageChecks: OptionChecks<Usage> = {
  inputTokens: isNotNegative,
  outputTokens: isNotNegative,
  cachedInputTokens: isNotNegative,
  cacheWriteTokens: isNotNegative,
  reasoningTokens: isNotNegative,
};

const responseChecks: OptionChecks<ScriptedResponse> = {
  text: isText,
  chunks: isListOfText,
  chunkDelayMs: isNotNegative,
  thoughts: isText,
  toolCalls: isList,
  usage: (value) =>
    value === null
      ? undefined
      : isObject(value) === undefined
        ? isGroup(usageChecks)(value)
        : 'an object with token counts, or null',
  finishReason: isOneOf('stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'),
  error: isAnything,
  streamError: isAnything,
  cut: isFlag,
  delayMs: isNotNegative,
};
const toolCallChecks: OptionChecks<ScriptedToolCall> = {
  name: isText,
  args: isAnything,
  providerCallId: isNonEmptyText,
};

/** Parts of an answer that a failing call does not give. */
const partsOfAnswer = [
  'text',
  'chunks',
  'thoughts',
  'toolCalls',
  'usage',
  'finishReason',
  'streamError',
  'cut',
] as const;

function contradictionIn(response: ScriptedResponse): string | undefined {
  if (response.text !== undefined && response.chunks !== undefined)
    return '`text` and `chunks` are both given; `chunks` is the text in pieces';
  const lost =
    response.error === undefined
      ? undefined
      : partsOfAnswer.find((part) => response[part] !== undefined);
  return (
    lost &&
    `\`${lost}\` is given beside \`error\`, which is all that comes of the call; ` +
      '`streamError` comes behind an answer'
  );
}

/**
 * Describes the problem with a response, as the end of a sentence; `undefined` when there is none.
 */
export function responseProblem(response: unknown): string | undefined {
  const invalid = findInvalidOption(response, responseChecks);
  if (invalid !== undefined) return invalid.reason;
  const contradiction = contradictionIn(response as ScriptedResponse);
  if (contradiction !== undefined) return contradiction;
  for (const call of (response as ScriptedResponse).toolCalls ?? []) {
    const problem = findInvalidOption(call, toolCallChecks);
    if (problem !== undefined) return `a call in \`toolCalls\` must be ${problem.within}`;
    if (call.name === undefined) return 'a call in `toolCalls` has no `name`';
  }
  return undefined;
}
