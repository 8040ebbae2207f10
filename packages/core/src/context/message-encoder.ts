import type {
  JSONValue,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { isPlainObject, type JsonValue } from '../base/json.ts';
import type { EventOf } from '../ledger/event.ts';
import { lastPartOf } from '../ledger/path.ts';
import type { PromptRecipe } from '../ledger/prompt-recipe.ts';
import { isSuccess, type ToolResult } from '../ledger/tool-result.ts';
import type { PromptEvent } from '../runnables/render-context.ts';
import { truncateText } from './truncate.ts';

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;
type AssistantPart = AssistantMessage['content'][number];
type ToolPart = ToolMessage['content'][number];

interface OpenRound {
  readonly calls: EventOf<'tool_call'>[];
  readonly results: Map<string, EventOf<'tool_result'>>;
  readonly deferred: LanguageModelV4Message[];
}

/** Version of the encoder that turns events into messages; each recipe names it. */
export type EncoderVersion = PromptRecipe['encoder'];

/** Observer of an encoding: tells of which event each message was made that is no answer. */
export interface EncoderTrace {
  /** Called before an event is encoded. */
  event(event: PromptEvent): void;
  /** Called with each message of the system or the user that the last event became. */
  message(message: LanguageModelV4Message): void;
}

export interface EncoderOptions {
  readonly encoder: EncoderVersion;
  /** Maximum length of a tool result in characters. */
  readonly resultLimit: number;
  /** Replaces references by the large values that they stand for. */
  readonly resolve: (value: unknown) => unknown;
  /** Returns the name that a tool has for the model. */
  readonly toolName: (name: string) => string;
  /** Name of the model that receives the prompt. */
  readonly model?: string | undefined;
  /** Returns the name of the model that answered in a round. */
  readonly answeredBy?: ((event: RoundEvent) => string | undefined) | undefined;
  readonly trace?: EncoderTrace | undefined;
}

/** Part of the answer that a model gave in a round. */
export type RoundEvent = EventOf<'thought'> | EventOf<'assistant'> | EventOf<'tool_call'>;

/**
 * Encoder version 1: turns events, one after the other, into the messages of a prompt. It is
 * frozen, because recorded prompts are rebuilt with it. Another encoding is another class with the
 * next version.
 *
 * Answers of the agent itself become assistant and tool messages. Answers of other agents become
 * messages that report them. A call is never separated from its result: results stand in the order
 * of the calls. Messages that arrived between a call and its result stand behind the result.
 */
export class MessageEncoder {
  protected readonly options: EncoderOptions;
  readonly #messages: LanguageModelV4Message[] = [];
  #assistant:
    | {
        readonly invocation: string | undefined;
        readonly round: number | undefined;
        readonly parts: AssistantPart[];
      }
    | undefined;
  #calls: EventOf<'tool_call'>[] = [];
  #open: OpenRound | undefined;
  #characters = 0;
  #hasOtherInput = false;

  constructor(options: EncoderOptions) {
    this.options = options;
  }

  /** Number of characters of text in the messages so far. */
  get characters(): number {
    return this.#characters;
  }

  /** True when the arguments of a call in the messages so far are no object. */
  get hasOtherInput(): boolean {
    return this.#hasOtherInput;
  }

  /** Adds one event. `native` is true when the agent itself was its author. */
  push(event: PromptEvent, native: boolean): void {
    switch (event.type) {
      case 'synthetic':
        this.#add(
          event.role === 'system'
            ? { role: 'system', content: event.text }
            : userMessage(event.text),
          event.text.length,
        );
        break;
      case 'rewritten':
      case 'compaction':
        this.#addUser(event.type === 'rewritten' ? event.text : event.summary);
        break;
      case 'user':
        this.#addUser(String(this.options.resolve(event.text)));
        break;
      case 'invocation_start':
        if (event.input?.message !== undefined)
          this.#addUser(String(this.options.resolve(event.input.message)));
        break;
      case 'invocation_end':
        this.#addUser(endNotice(event, this.options.resolve));
        break;
      case 'thought':
      case 'assistant':
      case 'tool_call':
        if (native || (event.type === 'assistant' && event.round === undefined))
          this.#pushOwn(event);
        else this.#pushForeign(event);
        break;
      case 'tool_result':
        if (native) this.#pushResult(event);
        else this.#tellResult(event);
        break;
    }
  }

  /** Returns the messages so far; a round that lacks results is closed with the known ones. */
  messages(): readonly LanguageModelV4Message[] {
    this.#closeAssistant();
    this.#closeRound();
    return this.#messages;
  }

  #addUser(text: string): void {
    this.#add(userMessage(text), text.length);
  }

  #add(message: LanguageModelV4Message, characters: number): void {
    this.#closeAssistant();
    this.#characters += characters;
    this.options.trace?.message(message);
    if (this.#open === undefined) this.#messages.push(message);
    else this.#open.deferred.push(message);
  }

  #pushOwn(event: EventOf<'thought'> | EventOf<'assistant'> | EventOf<'tool_call'>): void {
    const current = this.#assistant;
    if (
      current === undefined ||
      current.invocation !== event.invocationId ||
      current.round !== event.round
    ) {
      this.#closeAssistant();
      this.#closeRound();
      this.#assistant = { invocation: event.invocationId, round: event.round, parts: [] };
    }
    const parts = (this.#assistant as { parts: AssistantPart[] }).parts;
    const extra =
      event.providerMetadata === undefined
        ? {}
        : { providerOptions: event.providerMetadata as SharedV4ProviderOptions };
    if (event.type === 'tool_call') {
      this.#calls.push(event);
      const input = this.options.resolve(event.args);
      this.#characters += lengthOf(input);
      if (event.invalid === undefined && !isPlainObject(input)) this.#hasOtherInput = true;
      parts.push({
        type: 'tool-call',
        toolCallId: event.providerCallId,
        toolName: this.options.toolName(event.name),
        input: event.invalid === undefined ? input : {},
        ...extra,
      });
      return;
    }
    const text = String(this.options.resolve(event.text));
    this.#characters += text.length;
    if (text !== '' || event.providerMetadata !== undefined)
      parts.push({ type: event.type === 'thought' ? 'reasoning' : 'text', text, ...extra });
  }

  #closeAssistant(): void {
    const current = this.#assistant;
    if (current === undefined) return;
    this.#assistant = undefined;
    if (current.parts.length > 0)
      this.#messages.push({ role: 'assistant', content: current.parts });
    if (this.#calls.length > 0) {
      this.#open = { calls: this.#calls, results: new Map(), deferred: [] };
      this.#calls = [];
    }
  }

  #pushResult(event: EventOf<'tool_result'>): void {
    if (!event.settled) return;
    this.#closeAssistant();
    const open = this.#open;
    // A result whose call was left out of the prompt is left out with it.
    if (open === undefined || !open.calls.some((call) => call.callId === event.callId)) return;
    open.results.set(event.callId, event);
    if (open.results.size === open.calls.length) this.#closeRound();
  }

  #closeRound(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#messages.push({
      role: 'tool',
      content: open.calls.map((call) => this.#resultPart(call, open.results.get(call.callId))),
    });
    for (const message of open.deferred) this.#messages.push(message);
  }

  #resultPart(call: EventOf<'tool_call'>, event: EventOf<'tool_result'> | undefined): ToolPart {
    const output: LanguageModelV4ToolResultOutput =
      event === undefined
        ? { type: 'error-text', value: 'No result of this call is known.' }
        : this.output(event);
    this.#characters += lengthOf(output.type === 'execution-denied' ? output.reason : output.value);
    return {
      type: 'tool-result',
      toolCallId: call.providerCallId,
      toolName: this.options.toolName(call.name),
      output,
    };
  }

  /** Returns the content that the model receives as the result of its call. */
  protected output({ result }: EventOf<'tool_result'>): LanguageModelV4ToolResultOutput {
    const content = this.options.resolve(result.content) as JsonValue;
    const failed = !isSuccess(result);
    const limit = this.options.resultLimit;
    if (typeof content === 'string')
      return {
        type: failed ? 'error-text' : 'text',
        value: withAlternatives(truncateText(content, limit), result),
      };
    if (lengthOf(content) > limit || (failed && result.alternatives !== undefined)) {
      return {
        type: failed ? 'error-text' : 'text',
        value: withAlternatives(truncateText(JSON.stringify(content), limit), result),
      };
    }
    // The ledger types JSON as read-only, the provider does not.
    return { type: failed ? 'error-json' : 'json', value: content as JSONValue };
  }

  #pushForeign(event: EventOf<'thought'> | EventOf<'assistant'> | EventOf<'tool_call'>): void {
    if (event.type === 'thought') return;
    const { agent } = event;
    if (event.type === 'assistant')
      this.#addUser(`[${agent}] said: ${String(this.options.resolve(event.text))}`);
    else
      this.#addUser(
        `[${agent}] called the tool ${event.name} with ` +
          `${JSON.stringify(this.options.resolve(event.args))}`,
      );
  }

  #tellResult(event: EventOf<'tool_result'>): void {
    if (!event.settled) return;
    const content = this.options.resolve(event.result.content);
    const text = truncateText(
      typeof content === 'string' ? content : JSON.stringify(content),
      this.options.resultLimit,
    );
    this.#addUser(
      `The tool ${event.name} ${isSuccess(event.result) ? 'returned' : 'failed'}: ${text}`,
    );
  }
}

function withAlternatives(text: string, result: ToolResult): string {
  return result.alternatives === undefined || result.alternatives.length === 0
    ? text
    : `${text}\nInstead: ${result.alternatives.join('; ')}`;
}

function userMessage(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** Returns the number of characters of a text, or of the JSON of any other value. */
export function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return value === undefined ? 0 : JSON.stringify(value).length;
}

function endNotice(event: EventOf<'invocation_end'>, resolve: (value: unknown) => unknown): string {
  const name = lastPartOf(event.invocationId).replace(/#[^>]*/, '');
  if (event.status !== 'completed')
    return (
      `[${name}] ended as ` +
      `${event.status}${event.error === undefined ? '' : `: ${event.error.message}`}`
    );
  const output = resolve(event.output);
  return (
    `[${name}] has finished: ` +
    `${typeof output === 'string' ? output : JSON.stringify(output ?? null)}`
  );
}
