import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { tokensOf } from '../../models/measures/estimate.ts';
import type { Model } from '../../models/model.ts';

/** Approximate tokens that a provider adds to each message for its role and its borders. */
const tokensPerMessage = 4;

/**
 * Share of the window below which a rough count is good enough. It is compared at one token for
 * each character.
 */
const roughShare = 0.5;

/** Prompt to be counted: the messages, and all other parts of the call as one text. */
export interface CountedPrompt {
  readonly model: Model;
  readonly messages: readonly LanguageModelV4Message[];
  /** Returns the tools and settings of the call as JSON. Called only when it is needed. */
  readonly settings: () => string;
  /** Characters of the messages, the tools and the settings. */
  readonly characters: number;
  /** Tokens that the model's window holds. */
  readonly window: number;
  /** True when a report of the provider has shown its way of counting. */
  readonly isReported: boolean;
}

/**
 * Counter of the tokens of prompts from their texts. It uses the model's own `countTokens`, or else
 * classes of characters. Such classes are used only near the window and before the first report of
 * the provider. Each message is counted once.
 */
export class PromptTokens {
  #counted = new WeakMap<LanguageModelV4Message, number>();
  #model: Model | undefined;
  #settings: { readonly text: string; readonly tokens: number } | undefined;

  /**
   * Returns the tokens of a prompt; `undefined` when an estimate from the characters is good
   * enough.
   */
  of(prompt: CountedPrompt): number | undefined {
    const { model, messages, characters, window } = prompt;
    if (model.countTokens === undefined && (prompt.isReported || characters < window * roughShare))
      return undefined;
    if (this.#model !== model) {
      this.#model = model;
      this.#counted = new WeakMap();
      this.#settings = undefined;
    }
    const count = (text: string): number => tokensOf(model, text);
    let tokens = this.#tokensOfSettings(prompt.settings(), count);
    for (const message of messages) {
      let known = this.#counted.get(message);
      if (known === undefined) {
        known = count(textOf(message)) + tokensPerMessage;
        this.#counted.set(message, known);
      }
      tokens += known;
    }
    return Math.ceil(tokens);
  }

  #tokensOfSettings(text: string, count: (text: string) => number): number {
    if (this.#settings?.text !== text)
      this.#settings = { text, tokens: text === '{}' ? 0 : count(text) };
    return this.#settings.tokens;
  }
}

function textOf(message: LanguageModelV4Message): string {
  if (message.role === 'system') return message.content;
  return message.content.map(textOfPart).join('\n');
}

type Part = Exclude<LanguageModelV4Message, { role: 'system' }>['content'][number];

function textOfPart(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'tool-call':
      return `${part.toolName} ${JSON.stringify(part.input)}`;
    case 'tool-result':
      return 'value' in part.output
        ? typeof part.output.value === 'string'
          ? part.output.value
          : JSON.stringify(part.output.value)
        : '';
    default:
      return '';
  }
}
