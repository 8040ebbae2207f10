import type {
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { Clock } from '../base/clock.ts';
import { defined } from '../base/defined.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Usage } from '../ledger/event.ts';
import type { DeltaSink, ModelAnswer, ModelText, ModelToolCall } from './answer.ts';
import { ModelStreamError } from './errors.ts';

interface Block {
  readonly id: string;
  text: string;
  metadata: SharedV4ProviderMetadata | undefined;
}

interface ToolInput {
  readonly id: string;
  readonly name: string;
}

/**
 * Builds an answer from the parts of its stream. The cost per delta is a comparison, a
 * concatenation and the call of the sink.
 */
export class AnswerAssembly {
  readonly #model: string;
  readonly #clock: Clock;
  readonly #sink: DeltaSink | undefined;
  readonly #texts: Block[] = [];
  readonly #thoughts: Block[] = [];
  readonly #toolCalls: ModelToolCall[] = [];
  readonly #toolInputs: ToolInput[] = [];
  #text: Block | undefined;
  #thought: Block | undefined;
  #toolInput: ToolInput | undefined;
  #firstPartAt: number | undefined;
  #usage: Usage | undefined;
  #finishReason: string | undefined;
  #rawFinishReason: string | undefined;

  constructor(model: string, clock: Clock, sink: DeltaSink | undefined) {
    this.#model = model;
    this.#clock = clock;
    this.#sink = sink;
  }

  /** @throws the error of an `error` part */
  take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-delta':
        this.#takeText(part);
        return;
      case 'reasoning-delta':
        this.#takeThought(part);
        return;
      case 'tool-input-delta':
        this.#takeToolInput(part.id, part.delta);
        return;
      case 'text-start':
      case 'text-end':
        this.#text = openBlock(this.#texts, this.#text, part);
        return;
      case 'reasoning-start':
      case 'reasoning-end':
        this.#thought = openBlock(this.#thoughts, this.#thought, part);
        return;
      case 'tool-input-start':
        this.#toolInput = { id: part.id, name: part.toolName };
        this.#toolInputs.push(this.#toolInput);
        return;
      case 'tool-call':
        if (part.providerExecuted !== true) this.#toolCalls.push(toolCall(part));
        return;
      case 'finish':
        this.#finishReason = part.finishReason.unified;
        this.#rawFinishReason = part.finishReason.raw;
        this.#usage = toUsage(part.usage);
        return;
      case 'error':
        throw this.#streamedError(part.error);
      default:
        return;
    }
  }

  /** Returns the answer as far as it has come. */
  partial(): ModelAnswer {
    return {
      thoughts: this.#thoughts.map(toModelText),
      texts: this.#texts.map(toModelText),
      toolCalls: this.#toolCalls,
      usage: this.#usage,
      finishReason: this.#finishReason,
      firstPartAt: this.#firstPartAt,
    };
  }

  /** @throws ModelStreamError when the stream has ended before the answer */
  finish(): ModelAnswer {
    const reason = this.#finishReason;
    if (reason === undefined || reason === 'interrupted') {
      throw new ModelStreamError({
        model: this.#model,
        code: 'model_stream_cut',
        detail: 'the stream ended before the model had finished.',
      });
    }
    const texts = this.#texts.filter(hasContent).map(toModelText);
    if (reason === 'error' && texts.length === 0 && this.#toolCalls.length === 0) {
      throw new ModelStreamError({
        model: this.#model,
        code: 'model_stream_error',
        detail: 'the model ended with an error and without an answer.',
      });
    }
    return {
      thoughts: this.#thoughts.filter(hasContent).map(toModelText),
      texts,
      toolCalls: this.#toolCalls,
      usage: this.#usage,
      finishReason: reason,
      rawFinishReason: this.#rawFinishReason,
      firstPartAt: this.#firstPartAt,
    };
  }

  #takeText(part: {
    id: string;
    delta: string;
    providerMetadata?: SharedV4ProviderMetadata;
  }): void {
    let block = this.#text;
    if (block === undefined || block.id !== part.id || part.providerMetadata !== undefined) {
      this.#text = block = openBlock(this.#texts, block, part);
    }
    if (part.delta === '') return;
    this.#firstPartAt ??= this.#clock.monotonic();
    block.text += part.delta;
    this.#sink?.text(part.delta);
  }

  #takeThought(part: {
    id: string;
    delta: string;
    providerMetadata?: SharedV4ProviderMetadata;
  }): void {
    let block = this.#thought;
    if (block === undefined || block.id !== part.id || part.providerMetadata !== undefined) {
      this.#thought = block = openBlock(this.#thoughts, block, part);
    }
    if (part.delta === '') return;
    this.#firstPartAt ??= this.#clock.monotonic();
    block.text += part.delta;
    this.#sink?.thought(part.delta);
  }

  #takeToolInput(id: string, delta: string): void {
    if (this.#toolInput?.id !== id)
      this.#toolInput = this.#toolInputs.findLast((input) => input.id === id) ?? { id, name: '' };
    this.#firstPartAt ??= this.#clock.monotonic();
    this.#sink?.toolArgs(id, this.#toolInput.name, delta);
  }

  #streamedError(error: unknown): Error {
    if (error instanceof Error) return error;
    const message = (error as { message?: unknown } | null | undefined)?.message;
    const detail =
      typeof error === 'string'
        ? error
        : typeof message === 'string'
          ? message
          : 'the provider streamed an error.';
    return new ModelStreamError(
      { model: this.#model, code: 'model_stream_error', detail },
      { cause: error },
    );
  }
}

/**
 * Returns the block that a part belongs to: the last one, an earlier one or a new one. The last
 * metadata counts.
 */
function openBlock(
  blocks: Block[],
  last: Block | undefined,
  part: { id: string; type?: string; providerMetadata?: SharedV4ProviderMetadata },
): Block {
  const starts = part.type === 'text-start' || part.type === 'reasoning-start';
  let block = starts
    ? undefined
    : last?.id === part.id
      ? last
      : blocks.findLast((candidate) => candidate.id === part.id);
  if (block === undefined) {
    block = { id: part.id, text: '', metadata: undefined };
    blocks.push(block);
  }
  if (part.providerMetadata !== undefined)
    block.metadata = mergeMetadata(block.metadata, part.providerMetadata);
  return block;
}

/**
 * A later part may know less than an earlier one (OpenAI names the item first, its encrypted
 * content last): fields are kept until replaced.
 */
function mergeMetadata(
  before: SharedV4ProviderMetadata | undefined,
  after: SharedV4ProviderMetadata,
): SharedV4ProviderMetadata {
  if (before === undefined) return after;
  const merged = { ...before };
  for (const [provider, fields] of Object.entries(after))
    merged[provider] = { ...merged[provider], ...fields };
  return merged;
}

/**
 * Checks that a block has content. An empty block counts when the provider wants its metadata back:
 * redacted or encrypted reasoning, or a signature.
 */
function hasContent(block: Block): boolean {
  if (block.text !== '') return true;
  return Object.values(block.metadata ?? {}).some((fields) =>
    ['reasoningEncryptedContent', 'redactedData', 'signature', 'thoughtSignature'].some(
      (field) => typeof fields?.[field] === 'string',
    ),
  );
}

function toModelText(block: Block): ModelText {
  return block.metadata === undefined
    ? { text: block.text }
    : { text: block.text, providerMetadata: block.metadata as JsonObject };
}

function toolCall(part: {
  toolCallId: string;
  toolName: string;
  input: string;
  providerMetadata?: SharedV4ProviderMetadata;
}): ModelToolCall {
  const { args, invalid } = parseArgs(part.input);
  return {
    providerCallId: part.toolCallId,
    name: part.toolName,
    args,
    ...defined({ invalid }),
    ...(part.providerMetadata === undefined
      ? {}
      : { providerMetadata: part.providerMetadata as JsonObject }),
  };
}

function parseArgs(input: string): { args: JsonValue; invalid?: string } {
  if (input.trim() === '') return { args: {} };
  try {
    return { args: JSON.parse(input) as JsonValue };
  } catch (error) {
    return {
      args: input,
      invalid: `the arguments are not valid JSON: ${(error as Error).message}`,
    };
  }
}

/** Providers without usage report every count as `undefined`. */
function toUsage(usage: LanguageModelV4Usage): Usage | undefined {
  const { inputTokens: input, outputTokens: output } = usage;
  if (input.total === undefined && output.total === undefined) return undefined;
  return {
    inputTokens: input.total ?? 0,
    outputTokens: output.total ?? 0,
    ...(input.cacheRead ? { cachedInputTokens: input.cacheRead } : {}),
    ...(input.cacheWrite ? { cacheWriteTokens: input.cacheWrite } : {}),
    ...(output.reasoning ? { reasoningTokens: output.reasoning } : {}),
  };
}
