import { agent, openai, type SupervisionOptions, type Tool, toolResult } from 'adjutant';
import { model, type RunTestOptions, runTest, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { countedTool } from '../counted-tool.ts';

/** Calls a tool once; gives what was recorded, and the tool message that the model got. */
async function callOnce(
  tool: Tool,
  args: object,
  supervision?: SupervisionOptions,
  options?: RunTestOptions,
) {
  const made = agent({
    name: 'a',
    model: openai('gpt-5'),
    tools: [tool],
    ...(supervision === undefined ? {} : { supervision }),
  });
  const asks = model({ toolCalls: [{ name: tool.name, args: args as never }] });
  const { events, prompts } = await runTest(made, [user('Go'), asks, model('done')], options);
  return {
    result: events.filter((event) => event.type === 'tool_result').find(({ settled }) => settled),
    doubts: explain(events, { components: ['result_check'] }),
    told: JSON.stringify(prompts[1]?.at(-1)),
  };
}

const reads = (content: unknown, more: object = {}) =>
  countedTool('search', () => content, { readOnly: true, ...more }).tool;

describe('results that are not what was asked for', () => {
  test('nothing was found', async () => {
    const {
      result,
      doubts: found,
      told,
    } = await callOnce(reads({ results: [] }), { query: 'oil prices' });
    expect(result?.result).toMatchObject({
      status: 'partial',
      errorType: 'empty_result',
      confidence: 0.3,
      content: { results: [] },
    });
    expect(result?.notes?.length).toBeGreaterThan(0);
    for (const note of result?.notes ?? [])
      expect(told).toContain(JSON.stringify(note).slice(1, -1));
    expect(found).toMatchObject([
      { decision: 'doubt', data: { tool: 'search', check: 'empty_result', confidence: 0.3 } },
    ]);
    expect(found[0]?.why).toContain('search gave an empty result');
    expect(found[0]?.alternatives?.length).toBeGreaterThan(0);
  });

  test('a page that keeps visitors out', async () => {
    const {
      result,
      doubts: found,
      told,
    } = await callOnce(reads('<title>Just a moment...</title><p>Verify you are human</p>'), {
      url: 'a',
    });
    expect(result?.result).toMatchObject({ errorType: 'blocked_page', confidence: 0.2 });
    expect(found).toMatchObject([{ data: { check: 'blocked_page' } }]);
    expect(told).toContain('keeps visitors out');
  });

  test('results about something else', async () => {
    const {
      result,
      doubts: found,
      told,
    } = await callOnce(reads([{ title: 'Sunny, 21 degrees' }]), { query: 'oil prices today' });
    expect(result?.result).toMatchObject({ status: 'success', confidence: 0.4 });
    expect(found).toMatchObject([{ data: { check: 'relevance' } }]);
    expect(told).toContain('oil prices today');
  });

  test('what the tool itself doubts', async () => {
    const validate = ({ content }: { content: unknown }) =>
      content === 'yesterday' ? 'This is of yesterday.' : undefined;
    const { result, told } = await callOnce(reads('yesterday', { check: { validate } }), {});
    expect(result?.notes).toEqual(['This is of yesterday.']);
    expect(told).toContain('This is of yesterday.');
    expect((await callOnce(reads('today', { check: { validate } }), {})).doubts).toEqual([]);
  });

  test(
    'a tool that is surer of itself does not make it better, and one that is less sure is ' +
      'believed',
    async () => {
      const sure = await callOnce(reads(toolResult.success([], { confidence: 0.9 })), {});
      expect(sure.result?.result.confidence).toBe(0.3);
      const unsure = await callOnce(reads(toolResult.success([], { confidence: 0.1 })), {});
      expect(unsure.result?.result.confidence).toBe(0.1);
    },
  );
});

describe('what is not doubted', () => {
  test.each([
    ['what was found', reads([{ title: 'Oil prices fall' }])],
    ['a tool that does something and has nothing to say', countedTool('search', () => null).tool],
    ['an empty result that is one', reads([], { check: { empty: false } })],
  ])('%s', async (_name, tool) => {
    const { result, doubts: found } = await callOnce(tool, { query: 'oil prices' });
    expect(result?.result.status).toBe('success');
    expect(result?.notes ?? []).toEqual([]);
    expect(found).toEqual([]);
  });

  test('anything, where results are not looked at', async () => {
    for (const supervision of [{ results: false }, { results: { empty: false } }] as const) {
      const { result, doubts: found } = await callOnce(reads([]), {}, supervision);
      expect(result?.result).toEqual({ status: 'success', content: [] });
      expect(found).toEqual([]);
    }
    const unwatched = { runtime: { supervision: { results: false as const } } };
    expect((await callOnce(reads([]), {}, undefined, unwatched)).doubts).toEqual([]);
    expect((await callOnce(reads([]), {}, { results: {} }, unwatched)).doubts).toHaveLength(1);
  });
});
