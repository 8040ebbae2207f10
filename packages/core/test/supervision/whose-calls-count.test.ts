import { agent, loop, memoryStore, openai, parallel, type Tool } from 'adjutant';
import { keptOpen, model, runTest, type TestStep, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { countedTool, forbidden } from '../counted-tool.ts';

const wants = (of?: string): TestStep =>
  model(
    { toolCalls: [{ name: 'fetch_page', args: { url: 'a' } }] },
    of === undefined ? {} : { agent: of },
  );
const reader = (name: string, page: Tool) => agent({ name, model: openai('gpt-5'), tools: [page] });

describe('whose calls count', () => {
  test('an agent is not accused of what another one did', async () => {
    const page = countedTool('fetch_page', forbidden);
    const steps = [user('Go'), ...Array.from({ length: 4 }, () => wants()), model('I could not.')];
    const options = { store: keptOpen(memoryStore()), session: { id: 's' } };
    await runTest(reader('first', page.tool), steps, options);
    expect(page.entered).toHaveLength(2);
    await runTest(reader('second', page.tool), steps, options);
    expect(page.entered).toHaveLength(4);
  });

  test('branches do not accuse each other', async () => {
    const page = countedTool('fetch_page', () => 'nothing new');
    const one = reader('reader', page.tool);
    // Two branches of the same agent: six rounds of each, and its answer.
    const steps = [
      ...Array.from({ length: 12 }, () => wants('reader')),
      model('done', { agent: 'reader' }),
      model('done', { agent: 'reader' }),
    ];
    const { events } = await runTest(parallel({ name: 'both', runnables: [one, one] }), [
      user('Go'),
      ...steps,
    ]);
    expect(page.entered).toHaveLength(8);
    expect(
      explain(events, { components: ['loop_detector'] }).filter(
        ({ decision }) => decision === 'block',
      ),
    ).toHaveLength(4);
  });

  test('each start by the code around may look again, and is warned', async () => {
    const page = countedTool('look', () => 'nothing new');
    const looker = agent({ name: 'looker', model: openai('gpt-5'), tools: [page.tool] });
    const steps = Array.from({ length: 8 }, () => [
      model({ toolCalls: [{ name: 'look' }] }),
      model('Nothing new.'),
    ]).flat();
    const { events } = await runTest(loop({ name: 'watch', runnable: looker, maxIterations: 8 }), [
      user('Go'),
      ...steps,
    ]);
    expect(page.entered).toHaveLength(8);
    const decisions = explain(events, { components: ['loop_detector'] });
    expect(decisions.map(({ decision, data }) => [decision, data?.['count']])).toEqual(
      [3, 4, 5, 6, 7, 8].map((count) => ['warn', count]),
    );
  });
});
