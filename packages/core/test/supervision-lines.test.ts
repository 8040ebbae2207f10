import { agent, loop, parallel, run, runtime, type Tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { counting, forbidden, loopDecisions, stubbornModel } from './stubborn.ts';

const want = { name: 'fetch_page', args: { url: 'a' } };

/** An agent that wants the same page in every round. */
const reader = (name: string, page: Tool) => agent({ name, model: stubbornModel(() => [want]), tools: [page] });

describe('whose calls count', () => {
  test('an agent is not accused of what another one did', async () => {
    const page = counting('fetch_page', forbidden);
    const app = runtime({ app: 'lines' });
    const session = await app.session();
    await app.run(reader('first', page.tool), { session, input: 'Go' });
    expect(page.entered).toHaveLength(2);
    await app.run(reader('second', page.tool), { session, input: 'Go' });
    expect(page.entered).toHaveLength(4);
  });

  test('branches do not accuse each other', async () => {
    const page = counting('fetch_page', () => 'nothing new');
    const one = reader('reader', page.tool);
    const result = await run(parallel({ name: 'both', runnables: [one, one] }), { input: 'Go' });
    expect(page.entered).toHaveLength(8);
    expect(loopDecisions(result.session.events).filter(({ decision }) => decision === 'block')).toHaveLength(4);
  });

  test('each start by the code around may look again, and is warned', async () => {
    const page = counting('look', () => 'nothing new');
    const model = scriptedModel((_prompt, round) => (round % 2 === 0 ? { toolCalls: [{ name: 'look' }] } : { text: 'Nothing new.' }));
    const looker = agent({ name: 'looker', model, tools: [page.tool] });
    const result = await run(loop({ name: 'watch', runnable: looker, maxIterations: 8 }), { input: 'Go' });
    expect(page.entered).toHaveLength(8);
    const decisions = loopDecisions(result.session.events);
    expect(decisions.map(({ decision, data }) => [decision, data?.['count']])).toEqual([3, 4, 5, 6, 7, 8].map((count) => ['warn', count]));
  });
});
