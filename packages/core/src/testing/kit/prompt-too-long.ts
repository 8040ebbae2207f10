import type { LanguageModelV4Prompt } from '@ai-sdk/provider';

/**
 * Characters of JSON to a token: another count than the estimate of the runtime, as a provider's
 * is.
 */
const charactersPerToken = 3;

/** Tokens of a prompt as a scripted model with a window counts them. */
export function promptTokens(prompt: LanguageModelV4Prompt): number {
  return Math.ceil(JSON.stringify(prompt).length / charactersPerToken);
}

/**
 * What a provider answers to a prompt that is too long: for `error` of a scripted response.
 * @param window tokens that the model takes
 * @param tokens tokens that the prompt had
 */
export function promptTooLong(window: number, tokens: number): Error {
  const message =
    `This model's maximum context length is ${window} tokens. However, your messages ` +
    `resulted in ${tokens} tokens.`;
  // As the AI SDK's providers throw it, without loading them.
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
