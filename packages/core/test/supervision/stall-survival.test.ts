import { agent, isAdjutantError, memoryStore, runtime, type Store, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';

const search = tool({
  name: 'search',
  description: 'Searches',
  schema: z.object({ words: z.string() }),
  readOnly: true,
  execute: () => 'Nothing was found.',
});
const searching = () =>
  scriptedModel((prompt, _call, { toolChoice }) =>
    toolChoice?.type === 'none'
      ? { text: 'Nothing.' }
      : { toolCalls: [{ name: 'search', args: { words: `word ${prompt.length}` } }] },
  );
const inventing = () =>
  scriptedModel((prompt, _call, { toolChoice }) =>
    toolChoice?.type === 'none'
      ? { text: 'Nothing.' }
      : { toolCalls: [{ name: `tool${prompt.length}`, args: {} }] },
  );
const loops = { stallWarnAt: 2, stallBlockAt: 4 };
const appOf = (store: Store, model: () => ReturnType<typeof scriptedModel>) => {
  const searcher = agent({ name: 's', model: model(), tools: [search], supervision: { loops } });
  return {
    searcher,
    app: runtime({ app: 'stall', store, runnables: [searcher], recover: 'manual' }),
  };
};
const verdicts = (session: Parameters<typeof explain>[0]) =>
  explain(session, { components: ['loop_detector', 'limits'] }).map(
    ({ decision, data }) => `${decision} ${data?.['detector']} ${data?.['count']}`,
  );

test.each([
  ['rounds without anything new', searching],
  ['tools that do not exist', inventing],
] as const)('%s are counted over a stop at any event, and replay as recorded', async (_, model) => {
  const whole = appOf(memoryStore(), model);
  const { session, stopReason } = await whole.app.run(whole.searcher, {
    session: 'w',
    input: 'Go',
  });
  expect(stopReason).toBe('loop');
  const expected = verdicts(session);
  expect(expected.length).toBeGreaterThan(3);
  expect((await replay(session, appOf(memoryStore(), model).app)).divergence).toBeUndefined();

  for (let at = 6; at < session.events.length; at += 3) {
    const store = keptOpen(memoryStore());
    const first = appOf(store, model);
    const stopped = await first.app.sessions.open({ id: 's' });
    const running = first.app.run(first.searcher, { session: stopped, input: 'Go' });
    const forget = stopped.onDraft(() => {
      if (stopped.events.length >= at) running.stop();
    });
    const end = await running.catch((error: unknown) => error);
    forget();
    await running.settled();
    await first.app.close();
    if (!isAdjutantError(end, 'run_stopped')) continue;
    const second = appOf(store, model);
    const result = await second.app.resume('s');
    expect(result.stopReason).toBe('loop');
    expect(verdicts(result.session)).toEqual(expected);
    await second.app.close();
  }
});
