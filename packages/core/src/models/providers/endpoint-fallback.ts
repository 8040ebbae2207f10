import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { classifyModelError } from '../classify.ts';
import type { ModelErrorKind } from '../error-kind.ts';
import { ModelStreamError } from '../errors.ts';

export interface EndpointModel {
  /**
   * Unique among the endpoints, and the same in every process: it marks what the endpoint wrote.
   */
  readonly name: string;
  /** A deployment may be missing at one endpoint and exist at another. */
  readonly azure: boolean;
  readonly model: LanguageModelV4;
}

const availabilityKinds: ReadonlySet<ModelErrorKind> = new Set([
  'connection',
  'server',
  'overloaded',
  'timeout',
  'rate_limit',
]);

/**
 * One model over several endpoints that serve it: a call goes to the first, and to the next one
 * when an endpoint is not available, but never after the first content of an answer has arrived.
 * When all fail, the last one's error is thrown.
 *
 * Data that an endpoint signs or encrypts (reasoning, item ids) means nothing to another one. It is
 * marked with the endpoint's name and is not sent elsewhere.
 */
export function endpointFallback(endpoints: readonly EndpointModel[]): LanguageModelV4 {
  const first = endpoints[0];
  if (first === undefined) throw new RangeError('endpointFallback needs at least one endpoint');
  if (endpoints.length === 1) return first.model;
  return {
    specificationVersion: 'v4',
    provider: first.model.provider,
    modelId: first.model.modelId,
    supportedUrls: first.model.supportedUrls,
    doGenerate: (options) =>
      tryEndpoints(endpoints, options, async ({ name, model }, own) => {
        const result = await model.doGenerate(own);
        return { ...result, content: result.content.map((part) => marked(part, name)) };
      }),
    doStream: (options) => tryEndpoints(endpoints, options, streamFrom),
  };
}

async function tryEndpoints<Result>(
  endpoints: readonly EndpointModel[],
  options: LanguageModelV4CallOptions,
  call: (endpoint: EndpointModel, options: LanguageModelV4CallOptions) => Promise<Result>,
): Promise<Result> {
  let failure: unknown;
  for (const endpoint of endpoints) {
    try {
      return await call(endpoint, {
        ...options,
        prompt: options.prompt.map((message) => forEndpoint(message, endpoint.name)),
      });
    } catch (error) {
      if (options.abortSignal?.aborted || !isUnavailable(error, endpoint)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function isUnavailable(error: unknown, endpoint: EndpointModel): boolean {
  const { kind } = classifyModelError(error);
  return availabilityKinds.has(kind) || (endpoint.azure && kind === 'model_not_found');
}

/**
 * Opens a stream and reads it up to its first content, so that an error before that can still lead
 * elsewhere.
 */
async function streamFrom(
  { name, model }: EndpointModel,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> {
  const result = await model.doStream(options);
  const reader = result.stream.getReader();
  const head: LanguageModelV4StreamPart[] = [];
  try {
    while (!isContent(head.at(-1))) {
      const { done, value } = await reader.read();
      if (done) throw cut(model);
      if (value.type === 'error') throw asError(value.error, model);
      if (value.type === 'finish' && value.finishReason.unified === 'interrupted') throw cut(model);
      head.push(value);
    }
  } catch (error) {
    void reader.cancel(error).catch(() => undefined);
    throw error;
  }
  return { ...result, stream: continued(head, reader, name) };
}

const preamble: ReadonlySet<string> = new Set([
  'stream-start',
  'response-metadata',
  'raw',
  'ping',
  'text-start',
  'reasoning-start',
]);

function isContent(part: LanguageModelV4StreamPart | undefined): boolean {
  return part !== undefined && !preamble.has(part.type);
}

function continued(
  head: readonly LanguageModelV4StreamPart[],
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  name: string,
) {
  return new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of head) controller.enqueue(marked(part, name));
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(marked(value, name));
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function cut(model: LanguageModelV4): ModelStreamError {
  const name = `${model.provider}:${model.modelId}`;
  return new ModelStreamError({
    model: name,
    code: 'model_stream_cut',
    detail: 'the stream ended before the answer began.',
  });
}

function asError(error: unknown, model: LanguageModelV4): Error {
  if (error instanceof Error) return error;
  const message = (error as { message?: unknown } | null)?.message;
  const detail = typeof message === 'string' ? message : 'the provider streamed an error.';
  return new ModelStreamError(
    { model: `${model.provider}:${model.modelId}`, code: 'model_stream_error', detail },
    { cause: error },
  );
}

const mark = 'adjutant';

/** Only parts with metadata carry something that belongs to the endpoint. */
function marked<Part extends object>(part: Part, endpoint: string): Part {
  const metadata = (part as { providerMetadata?: SharedV4ProviderMetadata }).providerMetadata;
  return metadata === undefined
    ? part
    : { ...part, providerMetadata: { ...metadata, [mark]: { endpoint } } };
}

/** The message as this endpoint may see it: without the reasoning and the metadata of others. */
function forEndpoint(message: LanguageModelV4Message, endpoint: string): LanguageModelV4Message {
  if (
    message.role !== 'assistant' ||
    message.content.every((part) => part.providerOptions?.[mark] === undefined)
  )
    return message;
  const content = message.content.flatMap((part) => {
    const { [mark]: origin, ...providerOptions } = part.providerOptions ?? {};
    if (origin === undefined) return [part];
    if (origin['endpoint'] === endpoint) return [{ ...part, providerOptions }];
    const { providerOptions: _foreign, ...rest } = part;
    return part.type === 'reasoning' ? [] : [rest as typeof part];
  });
  return { ...message, content };
}
