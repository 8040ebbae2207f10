import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The part of `node-llama-cpp` that is used: before it is installed, its types are not there. */
interface LlamaPackage {
  getLlama(options: object): Promise<Llama>;
  readonly LlamaCompletion: new (options: { readonly contextSequence: object }) => Completion;
}

interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LoadedModel>;
  createGrammarForJsonSchema(schema: object): Promise<object>;
  dispose(): Promise<void>;
}

interface LoadedModel {
  tokenize(text: string, specialTokens: boolean): number[];
  createContext(options: object): Promise<{ getSequence(): object }>;
}

interface Completion {
  generateCompletionWithMeta(
    tokens: readonly number[],
    options: object,
  ): Promise<{ readonly metadata: { readonly stopReason: string } }>;
}

export interface Writing {
  readonly maxTokens: number;
  /** 0: always the likeliest word. */
  readonly temperature: number;
  /** The JSON Schema that the text is held to. */
  readonly schema?: object;
  /** True when the model goes on where it would end, until all tokens are used up. */
  readonly isEndless?: boolean;
  readonly signal: AbortSignal;
  write(text: string): void;
}

/** A language model with 135 million parameters in this process. It writes one text at a time. */
export class WeakModel {
  readonly #llama: Llama;
  readonly #model: LoadedModel;
  readonly #completion: Completion;
  #last: Promise<unknown> = Promise.resolve();

  constructor(llama: Llama, model: LoadedModel, completion: Completion) {
    this.#llama = llama;
    this.#model = model;
    this.#completion = completion;
  }

  /** Size of a text in tokens. */
  count(text: string): number {
    return this.#model.tokenize(text, true).length;
  }

  /** Goes on with a prompt. Returns true when it ended for the number of tokens. */
  write(prompt: string, writing: Writing): Promise<boolean> {
    const written = this.#last.then(() => this.#write(prompt, writing));
    this.#last = written.catch(() => undefined);
    return written;
  }

  async #write(prompt: string, writing: Writing): Promise<boolean> {
    const { maxTokens, temperature, schema, isEndless = false, signal } = writing;
    const grammar = schema && (await this.#llama.createGrammarForJsonSchema(schema));
    let text = prompt;
    let left = maxTokens;
    const take = (piece: string): void => {
      text += piece;
      writing.write(piece);
    };
    while (!signal.aborted) {
      const tokens = this.#model.tokenize(text, true);
      const { metadata } = await this.#completion.generateCompletionWithMeta(tokens, {
        ...{ maxTokens: left, temperature, signal, stopOnAbortSignal: true, seed: 1 },
        ...(grammar && { grammar }),
        onToken: (more: readonly number[]) => (left -= more.length),
        onTextChunk: take,
      });
      if (metadata.stopReason === 'maxTokens' || left <= 0) return true;
      if (!isEndless) return false;
      take(' And');
      left--;
    }
    return false;
  }

  /** Ends the model, when it has ended what it writes. */
  async close(): Promise<void> {
    await this.#last;
    await this.#llama.dispose();
  }
}

/** Tokens of a prompt and its answer together. */
export const contextSize = 4096;
/** Several would wait for each other in busy loops: ages on a machine with other work. */
const threads = 1;

export async function loadWeakModel(modelPath: string): Promise<WeakModel> {
  const entry = join(import.meta.dirname, 'node_modules/node-llama-cpp/dist/index.js');
  const { getLlama, LlamaCompletion } = (await import(pathToFileURL(entry).href)) as LlamaPackage;
  const llama = await getLlama({
    ...{ gpu: false, build: 'never', progressLogs: false, maxThreads: threads },
    logLevel: 'error',
  });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize, threads, sequences: 1 });
  const completion = new LlamaCompletion({ contextSequence: context.getSequence() });
  return new WeakModel(llama, model, completion);
}
