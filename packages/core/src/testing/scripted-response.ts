import type { JsonValue } from '../base/json.ts';
import {
  findInvalidOption,
  isAnything,
  isFlag,
  isList,
  isListOfText,
  isNonEmptyText,
  isNotNegative,
  isObject,
  isOneOf,
  isText,
  type OptionChecks,
} from '../base/options.ts';
import type { Usage } from '../ledger/event.ts';

export interface ScriptedToolCall {
  readonly name: string;
  /** A string is sent as it is, so that it can be broken JSON. @default {} */
  readonly args?: JsonValue;
  /** @default `call_1`, `call_2`, … */
  readonly providerCallId?: string;
}

/** One answer of a scripted model. All parts may be combined; an empty object is an empty answer. */
export interface ScriptedResponse {
  readonly text?: string;
  /** The text as the deltas it comes in; `text` is then not needed. */
  readonly chunks?: readonly string[];
  /** Milliseconds between two chunks. @default 0 */
  readonly chunkDelayMs?: number;
  readonly thoughts?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** @default 10 input and 5 output tokens; `null` reports none */
  readonly usage?: Usage | null;
  /** @default 'tool-calls' when there are tool calls, else 'stop' */
  readonly finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  /** Thrown by the call, before anything is streamed. */
  readonly error?: unknown;
  /** Streamed as an error after everything else, instead of the end. */
  readonly streamError?: unknown;
  /** Ends the stream without a finish, as a lost connection may. */
  readonly cut?: boolean;
  /** Milliseconds before the call answers; an abort ends the wait. */
  readonly delayMs?: number;
}

const responseChecks: OptionChecks<ScriptedResponse> = {
  text: isText,
  chunks: isListOfText,
  chunkDelayMs: isNotNegative,
  thoughts: isText,
  toolCalls: isList,
  usage: (value) => (value === null || isObject(value) === undefined ? undefined : 'an object with token counts, or null'),
  finishReason: isOneOf('stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'),
  error: isAnything,
  streamError: isAnything,
  cut: isFlag,
  delayMs: isNotNegative,
};
const toolCallChecks: OptionChecks<ScriptedToolCall> = { name: isText, args: isAnything, providerCallId: isNonEmptyText };

/** What is wrong with a response, as the end of a sentence; `undefined` when nothing is. */
export function responseProblem(response: unknown): string | undefined {
  const invalid = findInvalidOption(response, responseChecks);
  if (invalid !== undefined) return invalid.reason;
  for (const call of (response as ScriptedResponse).toolCalls ?? []) {
    const problem = findInvalidOption(call, toolCallChecks);
    if (problem !== undefined) return `a call in \`toolCalls\` must be ${problem.within}`;
    if (call.name === undefined) return 'a call in `toolCalls` has no `name`';
  }
  return undefined;
}
