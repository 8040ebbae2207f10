/** The same work on several items: one after the other with `call`, or all at once with `spawn`. */
import assert from 'node:assert/strict';
import { agent, run, step } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';

const cities = ['Bergen', 'Porto', 'Turin'];

// With a real model: model: openai('gpt-5-mini')
let busy = 0;
let mostBusy = 0;
const guide = agent({
  name: 'guide',
  model: scriptedModel((prompt) => ({
    text: `A day in ${cities.find((city) => JSON.stringify(prompt).includes(city))}`,
    delayMs: 5,
  })),
});

const watch = () => {
  busy++;
  mostBusy = Math.max(mostBusy, busy);
  return () => void busy--;
};

const oneByOne = step({
  name: 'one_by_one',
  execute: async (ctx) => {
    const days: string[] = [];
    for (const city of cities) {
      const done = watch();
      const { output } = await ctx.call(guide, { message: `Plan a day in ${city}` });
      done();
      days.push(output ?? '');
    }
    return ctx.complete(days);
  },
});

const allAtOnce = step({
  name: 'all_at_once',
  execute: async (ctx) => {
    const handles = cities.map((city) => ({
      handle: ctx.spawn(guide, { message: `Plan a day in ${city}` }),
      done: watch(),
    }));
    const results = await Promise.all(
      handles.map(({ handle, done }) => handle.wait().finally(done)),
    );
    return ctx.complete(results.map(({ output }) => output ?? ''));
  },
});

for (const [runnable, expectedBusy] of [
  [oneByOne, 1],
  [allAtOnce, 3],
] as const) {
  mostBusy = 0;
  const result = await run(runnable);
  console.log(
    `${runnable.name}: ${JSON.stringify(result.output)}, at most ${mostBusy} at the same time`,
  );
  assert.deepEqual(result.output, ['A day in Bergen', 'A day in Porto', 'A day in Turin']);
  assert.equal(mostBusy, expectedBusy);
  assert.equal(result.rounds, 3);
}
