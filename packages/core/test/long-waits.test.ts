import { expect, test } from 'vitest';
import { type AgentOptions, agent, runtime, type ToolOptions, tool } from '../src/index.ts';
import { scriptedModel } from '../src/testing/scripted-model.ts';
import { testClock } from '../src/testing/test-clock.ts';
import { decided, eventsOf, finished } from './supervising.ts';

const anHour = { 'retry-after': '3600' };

async function run(made: Pick<AgentOptions, 'model'> & Partial<AgentOptions>) {
  const clock = testClock();
  const result = await finished(runtime({ app: 'test', ports: { clock } }).run(agent({ name: 'helper', ...made }), 'go'), clock);
  return { result, events: result.session.events, took: clock.monotonic() };
}

function limited(more: object = {}, retryAfter: object = { headers: anHour }) {
  const execute = () => {
    throw Object.assign(new Error('too many requests'), { status: 429, ...retryAfter });
  };
  return tool({ name: 'limited', description: 'Is asked too often', schema: { type: 'object' }, execute, ...more } as ToolOptions<
    never,
    never,
    never,
    never,
    never
  >);
}

const callsOnce = () => scriptedModel([{ toolCalls: [{ name: 'limited', args: {} }] }, { text: 'done' }]);

test.each([
  ['the error router', {}, undefined],
  ['the retries of the tool', { retry: { maxAttempts: 3 } }, undefined],
  ['the error router, for ever', {}, { retryAfterMs: Number.POSITIVE_INFINITY }],
])('a tool whose service asks to wait for an hour is not waited for by %s: the model is told at once', async (_who, more, retryAfter) => {
  const { result, events, took } = await run({ model: callsOnce(), tools: [limited(more, retryAfter)] });
  expect(result).toMatchObject({ status: 'completed', output: 'done' });
  expect(took).toBeLessThan(5_000);
  expect(eventsOf(events, 'tool_result')).toMatchObject([{ settled: true, result: { errorType: 'http_429' } }]);
  expect(decided(events, 'error_router').map(({ decision, reasoning }) => `${decision} ${reasoning.includes('too long to wait')}`)).toEqual([
    'report true',
  ]);
});

test('another key or model is asked at once when a provider asks to wait for an hour', async () => {
  const error = Object.assign(new Error('rate limit'), { statusCode: 429, responseHeaders: anHour });
  const first = scriptedModel([{ error }], { modelId: 'first' });
  const second = scriptedModel([{ text: 'here' }], { modelId: 'second' });
  const { result, took } = await run({ model: [first, second] });
  expect(result).toMatchObject({ status: 'completed', output: 'here' });
  expect(took).toBeLessThan(5_000);
});

test.each([Number.POSITIVE_INFINITY, Number.NaN, -5, 'soon'])(
  'an error handler that wants to wait %s ms leaves numbers in the ledger',
  async (delay) => {
    const handle = ({ attempt }: { attempt: number }) => (attempt === 1 ? { action: 'retry' as const, delay: delay as number } : undefined);
    const clock = testClock();
    const helper = agent({ name: 'helper', model: callsOnce(), tools: [limited()], errorHandlers: [{ name: 'odd', handle }] });
    const running = runtime({ app: 'test', ports: { clock } }).run(helper, 'go');
    const { session } = await finished(running, clock);
    const [first] = eventsOf(session.events, 'tool_result');
    expect(Number.isSafeInteger(first?.retryAfterMs)).toBe(true);
  },
);
