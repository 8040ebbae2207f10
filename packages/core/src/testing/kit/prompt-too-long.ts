import type { LanguageModelV4Prompt } from '@ai-sdk/provider';

/**
 * Number of characters of JSON for each token. It differs from the estimate of the runtime, as that
 * of a provider does.
 */
const charactersPerToken = 3;

/** Counts the tokens of a prompt as a scripted model with a window does. */
export function promptTokens(prompt: LanguageModelV4Prompt): number {
  return Math.ceil(JSON.stringify(prompt).length / charactersPerToken);
}

/**
 * Returns the error of a provider for a prompt that is too long: for `error` of a scripted
 * response.
 * @param window tokens that the model takes
 * @param tokens tokens that the prompt had
 */
export function promptTooLong(window: number, tokens: number): Error {
  const message =
    `This model's maximum context length is ${window} tokens. However, your messages ` +
    `resulted in ${tokens} tokens.`;
  // The error has the form of the AI SDK's providers, without loading them.
  return Object.assign(new Error(message), {
    name: 'AI_APICallError',
    url: 'https://api.openai.com/v1/chat/completions',
    requestBodyValues: {},
    statusCode: 400,
    responseBody: JSON.stringify({
      error: {
        message,
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    }),
    isRetryable: false,
  });
}
