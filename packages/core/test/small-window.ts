import { APICallError, type LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Model } from 'adjutant';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';

/** What a provider answers to a prompt that is too long. */
export function promptTooLong(window: number, tokens: number): APICallError {
  const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`;
  return new APICallError({
    message,
    url: 'https://api.openai.com/v1/chat/completions',
    requestBodyValues: {},
    statusCode: 400,
    responseBody: JSON.stringify({ error: { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' } }),
    isRetryable: false,
  });
}

/** Tokens as a provider counts them that does not count as the estimate does: three characters to a token. */
export function countTokens(prompt: LanguageModelV4Prompt): number {
  return Math.ceil(JSON.stringify(prompt).length / 3);
}

/** A scripted model as a model with a window of its own. */
export function withWindow(scripted: ScriptedModel, contextWindow: number | undefined): Model {
  const model = { kind: 'model' as const, provider: 'scripted', modelId: scripted.modelId, settings: {}, load: () => scripted };
  return contextWindow === undefined ? model : { ...model, contextWindow };
}

/** A model that refuses prompts over `window` tokens by its own count, and reports what it counted. `calls` has the refused ones too. */
export function strictModel(window: number, answer: (prompt: LanguageModelV4Prompt, answered: number) => ScriptedResponse, modelId = 'strict') {
  const seen = { answered: 0, refused: 0 };
  const scripted = scriptedModel(
    (prompt) => {
      const tokens = countTokens(prompt);
      if (tokens > window) {
        seen.refused++;
        return { error: promptTooLong(window, tokens) };
      }
      return { usage: { inputTokens: tokens, outputTokens: 5 }, ...answer(prompt, seen.answered++) };
    },
    { modelId },
  );
  return { scripted, seen };
}

/** Ids of calls without a result right behind them, and of results without a call. */
export function partedCalls(prompt: LanguageModelV4Prompt): string[] {
  const found: string[] = [];
  let open: string[] = [];
  for (const message of prompt) {
    const results = message.role === 'tool' ? message.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])) : [];
    found.push(...open.filter((id) => !results.includes(id)), ...results.filter((id) => !open.includes(id)));
    open = message.role === 'assistant' ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])) : [];
  }
  return [...found, ...open];
}
