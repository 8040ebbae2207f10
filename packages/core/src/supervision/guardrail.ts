import type { JsonValue } from '../base/json.ts';
import type { OptionCheck } from '../base/options.ts';
import type { ToolResult } from '../ledger/tool-result.ts';

/**
 * What a guardrail decides: go on; refuse with a message; go on and tell the model something (`guide`); ask a person first (`confirm`); or go on with
 * another value (`transform`).
 */
export type GuardrailVerdict =
  | { readonly action: 'proceed' }
  | { readonly action: 'deny'; readonly message: string; readonly reasoning?: string }
  | { readonly action: 'guide'; readonly message: string; readonly reasoning?: string }
  | { readonly action: 'confirm'; readonly summary?: string; readonly reasoning?: string }
  | { readonly action: 'transform'; readonly value: JsonValue; readonly reasoning?: string };

/** Where a guardrail looks: a message that comes in, a model call that is to be made, an answer, a tool call and its result. */
export type GuardrailPoint = 'input' | 'modelCall' | 'output' | 'toolCall' | 'toolResult';

export interface GuardrailContext {
  readonly agent: string;
  readonly round: number;
}
export interface InputCheck extends GuardrailContext {
  readonly text: string;
}
export interface ModelCallCheck extends GuardrailContext {
  /** Epoch milliseconds of this call, and of the session's calls before it, newest first. */
  readonly at: number;
  readonly calledAt: Iterable<number>;
}
export interface OutputCheck extends GuardrailContext {
  readonly text: string;
  /** Names of the tools that the agent has. */
  readonly tools: readonly string[];
}
export interface ToolCallCheck extends GuardrailContext {
  readonly name: string;
  readonly args: JsonValue;
}
export interface ToolResultCheck extends ToolCallCheck {
  readonly result: ToolResult;
}

/**
 * Checks what goes in and out of an agent. Its functions are pure: they look at nothing but what they are given, and answer at once. Nothing
 * returned is `proceed`.
 */
export interface Guardrail {
  readonly name: string;
  readonly input?: (check: InputCheck) => GuardrailVerdict | undefined;
  readonly modelCall?: (check: ModelCallCheck) => GuardrailVerdict | undefined;
  readonly output?: (check: OutputCheck) => GuardrailVerdict | undefined;
  readonly toolCall?: (check: ToolCallCheck) => GuardrailVerdict | undefined;
  readonly toolResult?: (check: ToolResultCheck) => GuardrailVerdict | undefined;
}

/** What the option `guardrails` must be. */
export const isListOfGuardrails: OptionCheck = (value) =>
  Array.isArray(value) && value.every((one) => typeof (one as Partial<Guardrail> | null)?.name === 'string')
    ? undefined
    : 'a list of guardrails, each an object with a `name`';

/** What is on unless somebody says otherwise. */
export const defaultGuardrails: readonly Guardrail[] = Object.freeze([]);
