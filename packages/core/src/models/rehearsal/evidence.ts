import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import { canonicalJson, isPlainObject, type JsonObject } from '../../base/json.ts';

/** The outcome of a tool: its result or its error message. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

export interface WantedCall {
  readonly name: string;
  readonly args: JsonObject;
}

/** A plan asks for a tool that the call does not offer. */
export class ToolNotOffered extends Error {
  readonly tool: string;

  constructor(tool: string) {
    super(`The tool ${tool} is not offered`);
    this.tool = tool;
  }
}

/**
 * The knowledge from the prompt: the results of tool calls since the last user message. A plan
 * looks up the calls it needs; calls still to be made are collected in `wanted`. Nothing is
 * remembered between rounds, so a plan goes on after a restart as if nothing had happened.
 */
export class Evidence {
  readonly #outcomes = new Map<string, Outcome>();
  readonly #offered: ReadonlyMap<string, string>;
  readonly #wanted = new Map<string, WantedCall>();
  /** The last number that a tool gave before the last user message. */
  readonly earlierNumber: number | undefined;

  /** `asked` is the index of the message that asks. */
  constructor(prompt: LanguageModelV4Prompt, asked: number, offeredTools: readonly string[]) {
    this.#offered = new Map(offeredTools.map((name) => [bareName(name), name]));
    for (const { name, args, outcome } of callsIn(prompt.slice(asked + 1)))
      this.#outcomes.set(keyOf(name, args), outcome);
    this.earlierNumber = callsIn(prompt.slice(0, Math.max(0, asked)))
      .map(({ outcome }) => numberIn(outcome))
      .findLast((found) => found !== undefined);
  }

  get wanted(): readonly WantedCall[] {
    return [...this.#wanted.values()];
  }

  /**
   * The outcome of a call, or `undefined` when it has yet to be made. @throws ToolNotOffered when
   * it cannot be made
   */
  lookUp(name: string, args: JsonObject): Outcome | undefined {
    const key = keyOf(name, args);
    const outcome = this.#outcomes.get(key);
    if (outcome !== undefined) return outcome;
    const offered = this.#offered.get(name);
    if (offered === undefined) throw new ToolNotOffered(name);
    this.#wanted.set(key, { name: offered, args });
    return undefined;
  }
}

/** Tools may be offered within a name space: `files.readFile`. */
function bareName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function keyOf(name: string, args: unknown): string {
  return `${bareName(name)} ${canonicalJson(args)}`;
}

interface MadeCall {
  readonly name: string;
  readonly args: unknown;
  readonly outcome: Outcome;
}

function callsIn(prompt: LanguageModelV4Prompt): readonly MadeCall[] {
  const inputs = new Map<string, unknown>();
  const calls: MadeCall[] = [];
  for (const message of prompt) {
    if (message.role !== 'assistant' && message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type === 'tool-call') inputs.set(part.toolCallId, part.input);
      if (part.type === 'tool-result')
        calls.push({
          name: part.toolName,
          args: inputs.get(part.toolCallId),
          outcome: outcomeOf(part.output),
        });
    }
  }
  return calls;
}

function outcomeOf(output: LanguageModelV4ToolResultOutput): Outcome {
  switch (output.type) {
    case 'json':
      return unwrapToolResult(output.value);
    case 'text':
      return unwrapToolResult(parseIfJson(withoutRemarks(output.value)));
    case 'content':
      return unwrapToolResult(
        parseIfJson(output.value.map((part) => (part.type === 'text' ? part.text : '')).join('')),
      );
    case 'error-text':
      return { ok: false, problem: problemOf(parseIfJson(withoutRemarks(output.value))) };
    case 'error-json':
      return { ok: false, problem: problemOf(output.value) };
    case 'execution-denied':
      return { ok: false, problem: output.reason ?? 'the call was not allowed' };
  }
}

const statusBefore = /^\[(?:partial|error_[a-z]+|timeout|unknown)\] /;
const firstRemark = /\n(?:Error type: |Instead: |\[Low confidence: )/;

/**
 * Returns the content of a result, without its status and the remarks of supervision: those are for
 * models that can act on them.
 */
function withoutRemarks(text: string): string {
  const content = text.replace(statusBefore, '');
  // JSON is written in one line, and remarks stand below it.
  const [firstLine = ''] = content.split('\n', 1);
  if (/^[{[]/.test(firstLine) && typeof parseIfJson(firstLine) !== 'string') return firstLine;
  const remark = content.search(firstRemark);
  return remark === -1 ? content : content.slice(0, remark);
}

function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A result may come bare, or as a whole `ToolResult` with its status. */
function unwrapToolResult(value: unknown): Outcome {
  if (!isPlainObject(value) || typeof value['status'] !== 'string' || !('content' in value))
    return { ok: true, value };
  const isFailure =
    value['status'].startsWith('error') ||
    value['status'] === 'timeout' ||
    value['status'] === 'unknown';
  return isFailure
    ? { ok: false, problem: problemOf(value['content']) }
    : { ok: true, value: value['content'] };
}

function problemOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isPlainObject(value)) {
    for (const key of ['message', 'error', 'content', 'detail'])
      if (typeof value[key] === 'string') return value[key];
    if (isPlainObject(value['error'])) return problemOf(value['error']);
    if (isPlainObject(value['content'])) return problemOf(value['content']);
  }
  return JSON.stringify(value) ?? 'the tool failed';
}

function numberIn(outcome: Outcome): number | undefined {
  if (!outcome.ok || !isPlainObject(outcome.value)) return undefined;
  const { result, aggregates } = outcome.value;
  if (typeof result === 'number') return result;
  return isPlainObject(aggregates)
    ? Object.values(aggregates).find((value) => typeof value === 'number')
    : undefined;
}
