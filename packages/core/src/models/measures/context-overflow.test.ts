import { APICallError } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { classifyModelError } from '../classify.ts';

function refusal(statusCode: number, message: string, fields: object = {}) {
  const responseBody = JSON.stringify({ error: { message, ...fields } });
  return new APICallError({
    message,
    url: 'https://api.example/v1',
    requestBodyValues: {},
    statusCode,
    responseBody,
  });
}

// As people have seen them. Behind each: where (issue numbers are those of GitHub).
const overflows: readonly (readonly [string, number, string])[] = [
  // OpenHands/OpenHands#998
  [
    'OpenAI chat',
    400,
    "This model's maximum context length is 16385 tokens. However, your messages resulted " +
      'in 33625 tokens. Please reduce the length of the messages.',
  ],
  // VectorlyApp/bluebox#66
  [
    'OpenAI responses',
    400,
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  // Quoted in the tables of several coding agents.
  [
    'OpenAI responses, a configured limit',
    400,
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in ' +
      '301000 tokens. Please reduce the length of the messages.',
  ],
  // Azure passes on OpenAI's words: logancyang/obsidian-copilot#155
  [
    'Azure',
    400,
    "This model's maximum context length is 8192 tokens. However, you requested 8780 " +
      'tokens (780 in the messages, 8000 in the completion).',
  ],
  // anthropics/claude-code#12186
  ['Anthropic', 400, 'prompt is too long: 208310 tokens > 200000 maximum'],
  // anthropics/claude-code#408
  [
    'Anthropic, prompt and answer',
    400,
    'input length and `max_tokens` exceed context limit: 189136 + 20000 > 204648, decrease ' +
      'input length or `max_tokens` and try again',
  ],
  // docs.anthropic.com/en/api/errors
  [
    'Anthropic, bytes',
    413,
    'request_too_large: Request exceeds the maximum allowed number of bytes.',
  ],
  // google-gemini/gemini-cli#6678
  [
    'Gemini',
    400,
    'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
  ],
  // arkavo-org/arkavo-edge#371
  [
    'Gemini, without the number',
    400,
    'The input token count exceeds the maximum number of tokens allowed (1048576).',
  ],
  // quoted in several clients' tests of Vertex AI
  [
    'Vertex',
    400,
    'Unable to submit request because the input token count is 32825 but model only ' +
      'supports up to 32768. Reduce the input token count and try again.',
  ],
  // earendil-works/pi: packages/ai/src/utils/overflow.ts
  [
    'Mistral',
    400,
    'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 ' +
      'maximum context length',
  ],
  // thepersonalaicompany/amurex-backend#51
  ['Groq', 400, 'Please reduce the length of the messages or completion.'],
  // FoundationAgents/OpenManus#79
  [
    'DeepSeek',
    400,
    "This model's maximum context length is 65536 tokens. However, you requested 66343 " +
      'tokens (62247 in the messages, 4096 in the completion).',
  ],
  // refly-ai/refly#1177
  [
    'OpenRouter',
    400,
    "This endpoint's maximum context length is 32768 tokens. However, you requested about " +
      '42832 tokens (42832 of text input).',
  ],
  // earendil-works/pi: packages/ai/src/utils/overflow.ts
  [
    'Together',
    422,
    "The input (140000 tokens) is longer than the model's context length (131072 tokens).",
  ],
  // bytedance/UI-TARS-desktop#626
  [
    'Together and TGI',
    422,
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65537. Given: ' +
      '79993 `inputs` tokens and 1024 `max_new_tokens`',
  ],
  // stanford-crfm/helm#1820
  ['TGI', 422, 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1244'],
  // earendil-works/pi: packages/ai/src/utils/overflow.ts
  ['Ollama', 400, 'prompt too long; exceeded max context length by 5000 tokens'],
  // ITSpecialist111/ai_automation_suggester#37
  ['Ollama, embedded', 400, 'the input length exceeds the context length'],
  // AIDotNet/OpenCowork#82
  [
    'vLLM',
    400,
    "This model's maximum context length is 262144 tokens. However, you requested 128000 " +
      'output tokens and your prompt contains at least 134145 input tokens',
  ],
  // vllm-project/vllm#12165
  [
    'vLLM, older',
    400,
    'The prompt (total length 25938) is too long to fit into the model (context length 4096).',
  ],
  // canfieldjuan/finetunelab.ai: docs/MAX_TOKENS_CONTEXT_OVERFLOW_FIX.md
  [
    'vLLM, no room for the answer',
    400,
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum " +
      'context length is 4096 tokens and your request has 2104 input tokens',
  ],
  // oobabooga/textgen#7257
  [
    'llama.cpp',
    400,
    'the request exceeds the available context size. try increasing the context size or ' +
      'enable context shift',
  ],
  // ggml-org/llama.cpp#15780
  [
    'llama.cpp, older',
    500,
    'the request exceeds the available context size. try increasing the context size or ' +
      'enable context shift',
  ],
  // abetlen/llama-cpp-python#416
  ['llama-cpp-python', 500, 'Requested tokens (2048) exceed context window of 512'],
  // lmstudio-ai/lmstudio-bug-tracker#546
  [
    'LM Studio',
    400,
    'Trying to keep the first 111490 tokens when context the overflows. However, the model ' +
      'is loaded with context length of only 32768 tokens, which is not enough.',
  ],
  // franksec42/LmStudioToCursor: cursor_configs/context_safe_configs.md
  [
    'LM Studio, older',
    500,
    'The number of tokens to keep from the initial prompt is greater than the context length',
  ],
  // aws-samples/bedrock-chat#95
  ['Bedrock', 400, 'Input is too long for requested model.'],
  // daisuke-awaji/moca#254
  [
    'Bedrock, Claude',
    400,
    'The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum',
  ],
  // cline/cline#3120
  [
    'xAI',
    400,
    "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
  ],
  // cohere-ai/sandbox-topically#4
  [
    'Cohere',
    400,
    'too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - ' +
      'received 6354. Try using a shorter prompt or a smaller max_tokens value.',
  ],
  // jjleng/copilot-more#35
  ['GitHub Copilot', 400, 'prompt token count of 93854 exceeds the limit of 90000'],
  // earendil-works/pi: packages/ai/src/utils/overflow.ts
  ['Kimi', 400, 'Your request exceeded model token limit: 262144 (requested: 300000)'],
];

describe('context overflow', () => {
  test.each(overflows)('%s', (_provider, status, message) => {
    expect(classifyModelError(refusal(status, message))).toMatchObject({
      kind: 'context_overflow',
      retryable: false,
      status,
    });
    // The same inside a stream, where there is no status.
    expect(classifyModelError({ type: 'error', message })).toMatchObject({
      kind: 'context_overflow',
      retryable: false,
    });
  });

  test.each([
    ['llama.cpp', { type: 'exceed_context_size_error' }],
    ['OpenAI', { code: 'context_length_exceeded' }],
    ['Anthropic', { type: 'request_too_large' }],
  ])('the code of %s says enough', (_provider, fields) => {
    expect(classifyModelError(refusal(400, 'no', fields))).toMatchObject({
      kind: 'context_overflow',
    });
  });

  test.each([
    // ChatGPTNextWeb/NextChat#4964
    [
      'Anthropic, too long an answer asked for',
      400,
      'max_tokens: 10000 > 4096, which is the maximum allowed number of output tokens for ' +
        'claude-3-5-sonnet-20240620',
      'invalid_request',
      false,
    ],
    // CherryHQ/cherry-studio#4377
    [
      'DeepSeek, too long an answer asked for',
      400,
      'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
      'invalid_request',
      false,
    ],
    // Alishahryar1/free-claude-code#955
    [
      'Groq, too long an answer asked for',
      400,
      'max_completion_tokens must be less than or equal to 40960, the maximum value for ' +
        'max_completion_tokens is less than the context_window for this model',
      'invalid_request',
      false,
    ],
    [
      'OpenAI, too long an answer asked for',
      400,
      'max_tokens is too large: 200000. This model supports at most 16384 completion ' +
        'tokens, whereas you provided 200000.',
      'invalid_request',
      false,
    ],
    // aws-samples/bedrock-access-gateway#41
    [
      'Bedrock, too long an answer asked for',
      400,
      'The maximum tokens you requested exceeds the model limit of 2048. Try again with a ' +
        'maximum tokens value that is lower than 2048.',
      'invalid_request',
      false,
    ],
    [
      'OpenAI, a long description',
      400,
      "Invalid 'tools[0].function.description': string too long. Expected a string with " +
        'maximum length 1024',
      'invalid_request',
      false,
    ],
    // elizaOS/eliza#4040
    [
      'Groq, tokens per minute',
      429,
      'Rate limit reached for model `llama-3.1-8b-instant` on tokens per minute (TPM): ' +
        'Limit 6000, Used 5034, Requested 1443.',
      'rate_limit',
      true,
    ],
    // continuedev/continue#10218
    [
      'Groq, larger than the tokens of a minute',
      413,
      'Request too large for model `llama-3.3-70b-versatile` on tokens per minute (TPM): ' +
        'Limit 12000, Requested 14137, please reduce your message size and try again.',
      'rate_limit',
      false,
    ],
    [
      'OpenAI, larger than the tokens of a minute',
      429,
      'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit ' +
        '30000, Requested 31000. The input or output tokens must be reduced in order to run ' +
        'successfully.',
      'rate_limit',
      false,
    ],
    [
      'Bedrock, throttled',
      429,
      'Too many tokens, please wait before trying again.',
      'rate_limit',
      true,
    ],
    [
      'Gemini, tokens per minute',
      429,
      'Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000',
      'rate_limit',
      true,
    ],
  ] as const)('is not: %s', (_what, status, message, kind, retryable) => {
    expect(classifyModelError(refusal(status, message))).toMatchObject({ kind, retryable });
    expect(classifyModelError({ message }).kind).not.toBe('context_overflow');
  });

  test('a long message takes no long time', () => {
    const hostile =
      `prompt (${'total length '.repeat(50_000)} invalid ` + `'messages${'['.repeat(100_000)}`;
    expect(classifyModelError(refusal(400, hostile))).toMatchObject({ kind: 'invalid_request' });
  });
});
