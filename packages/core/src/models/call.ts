import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCallPart,
} from '@ai-sdk/provider';
import type { Clock } from '../base/clock.ts';
import { isPlainObject } from '../base/json.ts';
import type { DeltaSink, ModelAnswer } from './answer.ts';
import { AnswerAssembly } from './answer-assembly.ts';

/**
 * Calls a model and reads its streamed answer to the end. An abort of `options.abortSignal` ends
 * the wait at once, even if the model ignores it, and rejects with the signal's reason.
 * @param onAbort gets the answer as far as it had come when the call was aborted
 * @throws the error that the provider throws or streams; `toModelError` makes a `ModelError` of it
 * @throws ModelStreamError when the stream ends before the answer is complete
 */
export async function callModel(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  clock: Clock,
  sink: DeltaSink | undefined,
  onAbort?: (partial: ModelAnswer) => void,
): Promise<ModelAnswer> {
  const signal = options.abortSignal;
  signal?.throwIfAborted();
  const assembly = new AnswerAssembly(`${model.provider}:${model.modelId}`, clock, sink);
  const stream = await openStream(model, withObjectInputs(options), signal);
  const reader = stream.getReader();
  const cancel = (): void => void reader.cancel(signal?.reason).catch(ignore);
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      assembly.take(value);
    }
  } catch (error) {
    throwIfAborted(signal, assembly, onAbort);
    void reader.cancel(error).catch(ignore);
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
  throwIfAborted(signal, assembly, onAbort);
  return assembly.finish();
}

function throwIfAborted(
  signal: AbortSignal | undefined,
  assembly: AnswerAssembly,
  onAbort: ((partial: ModelAnswer) => void) | undefined,
): void {
  if (signal?.aborted !== true) return;
  onAbort?.(assembly.partial());
  signal.throwIfAborted();
}

const promptsOfObjects = new WeakSet<object>();

/**
 * Tells that each call in a prompt has an object for its arguments. To look for others anew in each
 * round would make a long conversation slow.
 */
export function markObjectInputs(prompt: LanguageModelV4CallOptions['prompt']): void {
  promptsOfObjects.add(prompt);
}

/**
 * Options whose prompt has an object for the arguments of each call. Models may write JSON of
 * another kind, which most providers refuse: every later call of the session would fail. The name
 * of the member is that of the AI SDK.
 */
function withObjectInputs(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const isKnown = promptsOfObjects.has(options.prompt);
  if (isKnown || !options.prompt.some(hasOtherInput)) return options;
  const prompt = options.prompt.map((message) =>
    message.role === 'assistant'
      ? { ...message, content: message.content.map(withObjectInput) }
      : message,
  );
  return { ...options, prompt };
}

function withObjectInput(part: AssistantPart): AssistantPart {
  return isOtherInput(part) ? { ...part, input: { rawInvalidInput: part.input } } : part;
}

function hasOtherInput({ role, content }: LanguageModelV4Message): boolean {
  return role === 'assistant' && content.some(isOtherInput);
}

function isOtherInput(part: AssistantPart): part is LanguageModelV4ToolCallPart {
  return part.type === 'tool-call' && !isPlainObject(part.input);
}

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type PartStream = ReadableStream<LanguageModelV4StreamPart>;

/**
 * Opens the stream, but does not wait longer than the signal; a stream that comes too late is
 * cancelled. One promise and no race: every first delta passes here.
 */
function openStream(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  signal: AbortSignal | undefined,
): Promise<PartStream> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    Promise.resolve(model.doStream(options)).then(
      ({ stream }) => {
        signal?.removeEventListener('abort', onAbort);
        if (signal?.aborted) stream.cancel(signal.reason).catch(ignore);
        else resolve(stream);
      },
      (error: unknown) => {
        signal?.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}

/** For the rejection of a cancel: the error that led to it is the one that is reported. */
function ignore(): void {}
