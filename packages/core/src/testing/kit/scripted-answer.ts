import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { Clock } from '../../base/clock.ts';
import type { Usage } from '../../ledger/event.ts';
import type { ScriptedResponse, ScriptedToolCall } from './scripted-response.ts';

/** Returns the pieces in which the text of a response comes. */
export function chunksOf({
  text,
  chunks = text === undefined ? [] : [text],
}: ScriptedResponse): readonly string[] {
  return chunks;
}

/** Returns the arguments of a call as a provider sends them. */
export function inputOf({ args = {} }: ScriptedToolCall): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}

/** Returns the content of an answer in one piece. */
export function contentOf(
  response: ScriptedResponse,
  nextId: () => string,
): LanguageModelV4Content[] {
  const { thoughts, toolCalls = [] } = response;
  const chunks = chunksOf(response);
  return [
    ...(thoughts === undefined ? [] : [{ type: 'reasoning' as const, text: thoughts }]),
    ...(chunks.length === 0 ? [] : [{ type: 'text' as const, text: chunks.join('') }]),
    ...toolCalls.map((call) => ({
      type: 'tool-call' as const,
      toolCallId: call.providerCallId ?? nextId(),
      toolName: call.name,
      input: inputOf(call),
    })),
  ];
}

/** Returns the finish reason and the usage of an answer. */
export function finishOf(response: ScriptedResponse): {
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
} {
  const unified = response.finishReason ?? (response.toolCalls?.length ? 'tool-calls' : 'stop');
  return { finishReason: { unified, raw: undefined }, usage: usageOf(response.usage) };
}

const defaultUsage: Usage = { inputTokens: 10, outputTokens: 5 };

function usageOf(usage: Usage | null = defaultUsage): LanguageModelV4Usage {
  return {
    inputTokens: {
      total: usage?.inputTokens,
      noCache: undefined,
      cacheRead: usage?.cachedInputTokens,
      cacheWrite: usage?.cacheWriteTokens,
    },
    outputTokens: {
      total: usage?.outputTokens,
      text: undefined,
      reasoning: usage?.reasoningTokens,
    },
  };
}

/**
 * Waits on a clock.
 * @throws the reason of the signal
 */
export function waitFor(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = (): void => {
    cancelTimer();
    reject(signal?.reason);
  };
  const cancelTimer = clock.setTimer(ms, () => {
    signal?.removeEventListener('abort', abort);
    resolve();
  });
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return promise;
}
