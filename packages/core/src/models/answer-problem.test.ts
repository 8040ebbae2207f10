import { expect, test } from 'vitest';
import type { ModelAnswer } from './answer.ts';
import { answerProblem } from './answer-problem.ts';

const answer = (fields: Partial<ModelAnswer>): ModelAnswer => ({
  thoughts: [],
  texts: [],
  toolCalls: [],
  usage: undefined,
  finishReason: 'stop',
  firstPartAt: undefined,
  ...fields,
});
const said = (text: string) => ({ texts: [{ text }] });
const toolCalls = [{ providerCallId: 'c', name: 'look', args: {} }];
const reasoned = { inputTokens: 1, outputTokens: 500, reasoningTokens: 500 };

test.each([
  ['text', answer(said('Hi'))],
  ['calls', answer({ toolCalls, finishReason: 'tool-calls' })],
  ['a text that was cut off', answer({ ...said('Once upon'), finishReason: 'length' })],
  ['text with an unknown reason', answer({ ...said('Hi'), finishReason: 'other' })],
])('%s is an answer', (_what, given) => {
  expect(answerProblem(given)).toBeUndefined();
});

test.each([
  ['nothing', answer({}), { kind: 'malformed', retryable: true, usable: false }],
  ['blanks', answer(said(' \n')), { kind: 'malformed', retryable: true, usable: false }],
  [
    'thoughts only',
    answer({ thoughts: [{ text: 'hm' }] }),
    { kind: 'malformed', retryable: true, usable: false },
  ],
  [
    'a filter',
    answer({ finishReason: 'content-filter', rawFinishReason: 'SAFETY' }),
    { kind: 'content_filter', retryable: false, usable: false },
  ],
  [
    'a filter that steps in late',
    answer({ ...said('Once'), finishReason: 'content-filter', rawFinishReason: 'content_filter' }),
    { kind: 'content_filter', retryable: false, usable: true },
  ],
  [
    'a filter among calls',
    answer({
      ...said('Once'),
      toolCalls,
      finishReason: 'content-filter',
      rawFinishReason: 'content_filter',
    }),
    { kind: 'content_filter', usable: false },
  ],
  [
    'a refusal of OpenAI',
    answer({
      ...said("I can't help with that."),
      finishReason: 'content-filter',
      rawFinishReason: undefined,
    }),
    { kind: 'refusal', retryable: false, usable: true, detail: "I can't help with that." },
  ],
  [
    'a refusal of Anthropic',
    answer({ ...said('First, take'), finishReason: 'content-filter', rawFinishReason: 'refusal' }),
    { kind: 'refusal', retryable: false, usable: false, detail: 'the model refused to answer' },
  ],
  [
    'reasoning that used up the output',
    answer({ finishReason: 'length', usage: reasoned }),
    {
      kind: 'output_limit',
      retryable: false,
      detail: expect.stringContaining('reasoning used up'),
    },
  ],
  [
    'an output that is too small',
    answer({ finishReason: 'length' }),
    { kind: 'output_limit', detail: expect.stringContaining('too few output tokens') },
  ],
  [
    'a full window',
    answer({ finishReason: 'length', rawFinishReason: 'model_context_window_exceeded' }),
    { kind: 'context_overflow', retryable: false },
  ],
])('%s is a problem', (_what, given, expected) => {
  expect(answerProblem(given)).toMatchObject(expected);
});

test('long words of a refusal are shortened', () => {
  const problem = answerProblem(
    answer({ ...said('no '.repeat(1_000)), finishReason: 'content-filter' }),
  );
  expect(problem?.detail.length).toBeLessThan(310);
});
