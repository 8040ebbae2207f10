import { agent, openai, type ToolOptions, tool } from 'adjutant';
import { advanceTime, model, runTest, scriptedModel, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';

const anHour = { 'retry-after': '3600' };

function limited(more: object = {}, retryAfter: object = { headers: anHour }) {
  const execute = () => {
    throw Object.assign(new Error('too many requests'), { status: 429, ...retryAfter });
  };
  return tool({
    name: 'limited',
    description: 'Is asked too often',
    schema: { type: 'object' },
    execute,
    ...more,
  } as ToolOptions<never, never, never, never, never>);
}

const asks = model({ toolCalls: [{ name: 'limited', args: {} }] });

test.each([
  ['the error router', {}, undefined],
  ['the retries of the tool', { retry: { attempts: 3 } }, undefined],
  ['the error router, for ever', {}, { retryAfterMs: Number.POSITIVE_INFINITY }],
])(
  'a tool whose service asks to wait for an hour is not waited for by %s: the model is ' +
    'told at once',
  async (_who, more, retryAfter) => {
    const helper = agent({
      name: 'helper',
      model: openai('gpt-5'),
      tools: [limited(more, retryAfter)],
    });
    const { status, output, events } = await runTest(helper, [user('go'), asks, model('done')]);
    expect([status, output]).toEqual(['completed', 'done']);
    expect(events.filter((event) => event.type === 'tool_result')).toMatchObject([
      { settled: true, result: { errorType: 'http_429' } },
    ]);
    expect(
      explain(events, { components: ['error_router'] }).map(
        ({ decision, why }) => `${decision} ${why.includes('too long to wait')}`,
      ),
    ).toEqual(['report true']);
  },
);

test('another key or model is asked at once when a provider asks to wait for an hour', async () => {
  const error = Object.assign(new Error('rate limit'), {
    statusCode: 429,
    responseHeaders: anHour,
  });
  const helper = agent({
    name: 'helper',
    model: [openai('gpt-5'), scriptedModel([], { modelId: 'second' })],
  });
  const { status, output, calls } = await runTest(helper, [
    user('go'),
    model({ error }),
    model('here'),
  ]);
  expect([status, output]).toEqual(['completed', 'here']);
  expect(calls.map((call) => call.model)).toEqual(['openai:gpt-5', 'scripted:second']);
});

test.each([Number.POSITIVE_INFINITY, Number.NaN, -5, 'soon'])(
  'an error handler that wants to wait %s ms leaves numbers in the ledger',
  async (delay) => {
    const handle = ({ attempt }: { attempt: number }) =>
      attempt === 1 ? { action: 'retry' as const, delayMs: delay as number } : undefined;
    const helper = agent({
      name: 'helper',
      model: openai('gpt-5'),
      tools: [limited()],
      errorHandlers: [{ name: 'odd', handle }],
    });
    // Nobody lives to see the end of the longest wait: the time of the run ends first.
    const rest =
      delay === Number.POSITIVE_INFINITY
        ? [advanceTime(600_000)]
        : [advanceTime(30_000), model('done')];
    const { events } = await runTest(helper, [user('go'), asks, ...rest]);
    const [first] = events.filter((event) => event.type === 'tool_result');
    expect(Number.isSafeInteger(first?.retryAfterMs)).toBe(true);
  },
);
