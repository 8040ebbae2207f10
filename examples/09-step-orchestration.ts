/** A step that leads several agents: it calls them, looks at what they gave, and calls again. */
import assert from 'node:assert/strict';
import { agent, run, step } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { runTree } from 'adjutant/views';

// With a real model: model: openai('gpt-5-mini')
const writer = agent({
  name: 'writer',
  model: scriptedModel([{ text: 'Buy now!!!' }, { text: 'A lamp that lasts.' }]),
});
const critic = agent({
  name: 'critic',
  model: scriptedModel([{ text: 'Too loud.' }, { text: 'OK' }]),
});

const slogan = step({
  name: 'slogan',
  execute: async (ctx) => {
    let advice = '';
    for (let attempt = 1; attempt <= 3; attempt++) {
      const draft = await ctx.call(writer, {
        message: `Write a slogan. ${advice}`,
        key: `draft-${attempt}`,
      });
      if (draft.status !== 'completed')
        return ctx.fail(draft.error?.message ?? 'The writer failed.');
      const verdict = await ctx.call(critic, {
        message: draft.output ?? '',
        key: `verdict-${attempt}`,
      });
      if (verdict.output === 'OK')
        return ctx.complete({ slogan: draft.output ?? '', attempts: attempt }, 'slogan');
      advice = `The last one was: ${draft.output}. The critic said: ${verdict.output}`;
    }
    return ctx.fail('No slogan was good enough.');
  },
});

const result = await run(slogan);
console.log(result.output);

// Each call is an invocation of its own in the ledger: after a crash the step runs again, and
// finished calls are not repeated.
const calls = runTree(result.session.events)[0]?.children ?? [];
for (const { path, name, status } of calls)
  console.log(`${path.split('/').at(-1)}: ${name} ${status}`);

assert.deepEqual(result.output, { slogan: 'A lamp that lasts.', attempts: 2 });
assert.deepEqual(result.session.state.slogan, result.output);
assert.deepEqual(
  calls.map(({ path }) => path.split('/').at(-1)),
  ['draft-1', 'verdict-1', 'draft-2', 'verdict-2'],
);
