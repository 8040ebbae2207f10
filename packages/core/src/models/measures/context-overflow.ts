/**
 * Most characters of a message that count as the words of the provider: errors may quote the
 * request.
 */
const longestMessage = 20_000;

/**
 * The words of providers for a prompt that is longer than the window. `context-overflow.test.ts`
 * has the messages and their sources.
 */
const overflow: readonly RegExp[] = [
  /context_length_exceeded|model_context_window_exceeded|exceed_context_size|request_too_large/i,
  new RegExp(
    [
      String.raw`maximum context length (?:is|of) \d|\d maximum context length`,
      String.raw`context length is only \d|context length of only \d`,
    ].join('|'),
    'i',
  ),
  /(?:prompt|input) (?:is )?too long\b/i,
  /prompt \([a-z ]{0,20}\d+\) is (?:too long|longer than)/i,
  new RegExp(
    [
      String.raw`exceeds? (?:the |this model's |the model's |its )?(?:available |max `,
      'maximum )?context (?:window|length|limit|size)',
    ].join('|'),
    'i',
  ),
  /exceeded max context length|context window exceeds limit|exceeded model token limit/i,
  new RegExp(
    [
      'input tokens? exceeds? (?:the|maximum)|too many input tokens',
      'too many tokens: (?:total|size|max)',
    ].join('|'),
    'i',
  ),
  new RegExp(
    [
      String.raw`input token count (?:\(\d+\) )?exceeds the maximum`,
      String.raw`input token count is \d+ but (?:the )?model only supports`,
      String.raw`prompt token count of \d+ exceeds`,
    ].join('|'),
    'i',
  ),
  /maximum prompt length is \d|maximum allowed input length of \d/i,
  /(?:longer|greater) than the (?:model's |maximum )?(?:context length|model length)/i,
  /reduce the length of the (?:messages|input|prompt)/i,
  /`inputs` tokens \+ `max_new_tokens` must be|`inputs` must have less than \d+ tokens/i,
  /range of input length should be/i,
  /invalid '(?:messages|input)[^']{0,80}': string too long/i,
];

/**
 * Words of a limit of tokens in a span of time. It mentions large requests too, but does not ask
 * for a shorter prompt.
 */
const rate = new RegExp(
  [
    String.raw`tokens per (?:minute|min|day|hour)|\bTP[MD]\b|rate.?limit|too many requests`,
    'throttl|please wait before',
  ].join('|'),
  'i',
);

/**
 * True when the message of a provider says that the prompt, or prompt and answer together, do not
 * fit the model's window.
 */
export function saysContextOverflow(message: string): boolean {
  const text = message.length > longestMessage ? message.slice(0, longestMessage) : message;
  return overflow.some((pattern) => pattern.test(text)) && !rate.test(text);
}

/**
 * True when the message says that one request exceeds the limit for a span of time: waiting does
 * not help.
 */
export function saysLargerThanRate(message: string): boolean {
  return /request too large/i.test(message) && rate.test(message);
}
