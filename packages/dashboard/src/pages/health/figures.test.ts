import { expect, test } from 'vitest';
import { alertsOf, byModel, partsOf, percent, spans, withWork } from './figures.ts';

const tool = { tool: 'a', calls: 4, failed: 1, durationMs: 40, longestMs: 20 };
const round = { agent: 'clerk', rounds: 2, durationMs: 62_000, longestMs: 40_000 };

test('Pages of figures are added by name', () => {
  const more = { ...tool, failed: 0, longestMs: 30 };
  const sum = withWork(
    { tools: [tool], rounds: [] },
    { tools: [more, { ...tool, tool: 'b' }], rounds: [round] },
  );
  expect(sum.tools).toEqual([
    { tool: 'a', calls: 8, failed: 1, durationMs: 80, longestMs: 30 },
    { ...tool, tool: 'b' },
  ]);
  expect(sum.rounds).toEqual([round]);
});

test('Tools that fail in more than a fifth of their calls are alerts, and so are long rounds', () => {
  expect(alertsOf({ tools: [tool], rounds: [round] })).toEqual([
    {
      name: 'a',
      text: 'fails in 25 % of its calls: 1 of 4',
      advice: expect.stringMatching(/^Read the errors of its last calls/),
    },
    {
      name: 'clerk',
      text: 'takes 31 s a round, on average of 2',
      advice: expect.stringMatching(/^Look at the timeline/),
    },
  ]);
  const few = { ...tool, calls: 2, failed: 2 };
  const fifth = { ...tool, calls: 5, failed: 1 };
  const short = { ...round, durationMs: 60_000 };
  expect(alertsOf({ tools: [few, fifth], rounds: [short] })).toEqual([]);
});

test('Usage is summed by model, the dearest first', () => {
  const use = (model: string, cost: number) => ({
    ...{ model, calls: 1, cost, unpriced: 0, estimated: 0 },
    usage: {
      ...{ inputTokens: 10, outputTokens: 1 },
      ...{ cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    },
  });
  const session = (session: string, models: ReturnType<typeof use>[]) => ({
    ...use('', 0),
    ...{ session, models },
  });
  const sessions = [session('s', [use('a', 1), use('b', 3)]), session('t', [use('a', 1)])];
  expect(byModel(sessions)).toEqual([
    { model: 'b', calls: 1, cost: 3, unpriced: 0, input: 10, output: 1 },
    { model: 'a', calls: 2, cost: 2, unpriced: 0, input: 20, output: 2 },
  ]);
});

test('Parts of a span follow one another up to its end', () => {
  const parts = partsOf(spans.week, 1_000 * spans.week.ms);
  expect(parts).toHaveLength(7);
  expect(parts.at(-1)?.to).toBe(1_000 * spans.week.ms);
  expect(parts[1]?.from).toBe(parts[0]?.to);
});

test('Small shares keep a digit', () => {
  expect(percent(0.004)).toBe('0.4 %');
  expect(percent(0.5)).toBe('50 %');
  expect(percent(0)).toBe('0 %');
});
