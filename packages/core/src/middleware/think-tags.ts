import type {
  LanguageModelV4,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { checkOptions } from '../base/invalid-option.ts';
import type { OptionChecks } from '../base/options.ts';
import type { Middleware } from '../runnables/hooks.ts';
import { ThinkSplitter } from './think-splitter.ts';

export interface StripThinkTagsOptions {
  /**
   * Names of the tags, without brackets; upper and lower case are the same. @default ['think',
   * 'thinking']
   */
  readonly tags?: readonly string[];
}

const defaultTags: readonly string[] = ['think', 'thinking'];
const tagName = /^[A-Za-z][\w-]{0,40}$/;

const optionChecks: OptionChecks<StripThinkTagsOptions> = {
  tags: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((tag) => typeof tag === 'string' && tagName.test(tag))
      ? undefined
      : "a list of names of tags such as ['think']",
};

/**
 * Makes thoughts of text between `<think>` and `</think>`, also when a tag comes in several deltas.
 * A tag that is never closed counts to the end of the text. A tag right behind a backtick is text.
 * @throws InvalidOptionError
 */
export function stripThinkTags(options: StripThinkTagsOptions = {}): Middleware {
  checkOptions('stripThinkTags', options, optionChecks);
  const tags = options.tags ?? defaultTags;
  return Object.freeze({
    name: 'stripThinkTags',
    wrapModel: (model: LanguageModelV4) => withoutTags(model, tags),
  });
}

function withoutTags(model: LanguageModelV4, tags: readonly string[]): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    async doGenerate(options) {
      const result = await model.doGenerate(options);
      return {
        ...result,
        content: result.content.flatMap((part) =>
          part.type === 'text' ? splitText(part, tags) : [part],
        ),
      };
    },
    async doStream(options) {
      const result = await model.doStream(options);
      const parts = new PartSplitter(tags);
      const change = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => parts.take(part, controller),
        flush: (controller) => parts.endAll(controller),
      });
      return { ...result, stream: result.stream.pipeThrough(change) };
    },
  };
}

function splitText(
  part: Extract<LanguageModelV4Content, { type: 'text' }>,
  tags: readonly string[],
): LanguageModelV4Content[] {
  const pieces: { text: string; isThought: boolean }[] = [];
  const splitter = new ThinkSplitter(tags, (text, isThought) => {
    const last = pieces.at(-1);
    if (last?.isThought === isThought) last.text += text;
    else pieces.push({ text, isThought });
  });
  splitter.take(part.text);
  splitter.end();
  if (!pieces.some(({ isThought }) => isThought))
    return [{ ...part, text: pieces.map(({ text }) => text).join('') }];
  return pieces.map(({ text, isThought }) =>
    isThought ? { type: 'reasoning', text } : { ...part, text },
  );
}

interface Parts {
  enqueue(part: LanguageModelV4StreamPart): void;
}

/** A text of the stream, and the thought in it that has begun and not ended. */
interface Block {
  readonly splitter: ThinkSplitter;
  thoughts: number;
  thought: string | undefined;
}

/** Changes the parts of one stream. */
class PartSplitter {
  readonly #tags: readonly string[];
  readonly #blocks = new Map<string, Block>();
  #to: Parts | undefined;

  constructor(tags: readonly string[]) {
    this.#tags = tags;
  }

  take(part: LanguageModelV4StreamPart, to: Parts): void {
    this.#to = to;
    switch (part.type) {
      case 'text-delta':
        this.#blockOf(part.id).splitter.take(part.delta);
        if (part.providerMetadata !== undefined) to.enqueue({ ...part, delta: '' });
        return;
      case 'text-end':
        this.#end(part.id);
        to.enqueue(part);
        return;
      case 'finish':
        this.endAll(to);
        to.enqueue(part);
        return;
      default:
        to.enqueue(part);
    }
  }

  endAll(to: Parts): void {
    this.#to = to;
    for (const id of [...this.#blocks.keys()]) this.#end(id);
  }

  #end(id: string): void {
    const block = this.#blocks.get(id);
    if (block === undefined) return;
    block.splitter.end();
    this.#endThought(block);
    this.#blocks.delete(id);
  }

  #blockOf(id: string): Block {
    let block = this.#blocks.get(id);
    if (block === undefined) {
      const made: Block = {
        splitter: new ThinkSplitter(this.#tags, (text, isThought) =>
          this.#give(id, made, text, isThought),
        ),
        thoughts: 0,
        thought: undefined,
      };
      block = made;
      this.#blocks.set(id, block);
    }
    return block;
  }

  #give(id: string, block: Block, text: string, isThought: boolean): void {
    if (!isThought) {
      this.#endThought(block);
      this.#to?.enqueue({ type: 'text-delta', id, delta: text });
      return;
    }
    if (block.thought === undefined) {
      block.thoughts++;
      block.thought = `${id}:thought-${block.thoughts}`;
      this.#to?.enqueue({ type: 'reasoning-start', id: block.thought });
    }
    this.#to?.enqueue({ type: 'reasoning-delta', id: block.thought, delta: text });
  }

  #endThought(block: Block): void {
    if (block.thought === undefined) return;
    this.#to?.enqueue({ type: 'reasoning-end', id: block.thought });
    block.thought = undefined;
  }
}
