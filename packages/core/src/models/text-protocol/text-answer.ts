import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { AnswerParser } from './answer-parser.ts';
import { readActions } from './read-action.ts';
import type { Action } from './spellings/call-object.ts';
import { OfferedTools } from './spellings/offered-tools.ts';

type Kind = 'text' | 'reasoning';

/** Reads the text of one answer and gives it out as the parts of a stream. */
export class TextAnswer {
  readonly #emit: (part: LanguageModelV4StreamPart) => void;
  readonly #parser: AnswerParser;
  readonly #tools: OfferedTools;
  readonly #prompt: LanguageModelV4Prompt;
  #block: { readonly kind: Kind; readonly id: string } | undefined;
  #blocks = 0;

  constructor(
    options: LanguageModelV4CallOptions,
    emit: (part: LanguageModelV4StreamPart) => void,
  ) {
    this.#emit = emit;
    this.#prompt = options.prompt;
    this.#tools = new OfferedTools(
      options.toolChoice?.type === 'none'
        ? []
        : (options.tools ?? []).filter((tool) => tool.type === 'function'),
    );
    this.#parser = new AnswerParser(
      {
        thought: (delta, first) => this.#give('reasoning', delta, first),
        text: (delta, first) => this.#give('text', delta, first),
      },
      this.#tools,
    );
  }

  push(delta: string): void {
    this.#parser.push(delta);
  }

  /** Emits the remaining parts, and returns the reason why the answer ended. */
  end(reason: LanguageModelV4FinishReason): LanguageModelV4FinishReason {
    const isLength = reason.unified === 'length';
    const written = this.#parser.end(isLength);
    // Text that is left out anyway may be cut off: the answer ended before it.
    const isCut = isLength && !this.#parser.isOver;
    const actions: readonly Action[] = readActions(written, this.#tools, isCut);
    const calls = actions.filter((action) => action.type === 'call');
    // An answer beside calls is a guess: their results were not known yet.
    if (calls.length === 0)
      for (const action of actions)
        if (action.type === 'answer') this.#give('text', action.text, true);
    this.#close();
    this.#emitCalls(calls);
    if (calls.length > 0) return { ...reason, unified: 'tool-calls' };
    return isLength && !isCut ? { ...reason, unified: 'stop' } : reason;
  }

  #give(kind: Kind, delta: string, first: boolean): void {
    if (delta === '') return;
    if (first || this.#block?.kind !== kind) {
      this.#close();
      this.#block = { kind, id: `${kind}-${++this.#blocks}` };
      this.#emit({ type: `${kind}-start`, id: this.#block.id });
    }
    this.#emit({ type: `${kind}-delta`, id: this.#block.id, delta });
  }

  #close(): void {
    if (this.#block !== undefined)
      this.#emit({ type: `${this.#block.kind}-end`, id: this.#block.id });
    this.#block = undefined;
  }

  #emitCalls(calls: readonly Extract<Action, { type: 'call' }>[]): void {
    const used = calls.length === 0 ? 0 : highestId(this.#prompt);
    for (const [index, { tool, input }] of calls.entries()) {
      const id = `text_${used + index + 1}`;
      this.#emit({ type: 'tool-input-start', id, toolName: tool });
      this.#emit({ type: 'tool-input-delta', id, delta: input });
      this.#emit({ type: 'tool-input-end', id });
      this.#emit({ type: 'tool-call', toolCallId: id, toolName: tool, input });
    }
  }
}

/** Ids of calls must differ within a prompt; those of this model are numbered. */
function highestId(prompt: LanguageModelV4Prompt): number {
  let highest = 0;
  for (const message of prompt) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) {
      const number =
        part.type === 'tool-call' ? /^text_(\d{1,9})$/.exec(part.toolCallId)?.[1] : undefined;
      if (number !== undefined) highest = Math.max(highest, Number(number));
    }
  }
  return highest;
}
