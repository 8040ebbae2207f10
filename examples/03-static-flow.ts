/**
 * An order of work that is known beforehand: parallel branches, then parts in sequence, then a loop
 * until it is good enough.
 */
import assert from 'node:assert/strict';
import { agent, loop, parallel, run, sequence, step } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { runTree } from 'adjutant/views';

// With a real model: model: openai('gpt-5-mini')
const facts = agent({
  name: 'facts',
  model: scriptedModel([{ text: 'Water boils at 100 °C.' }]),
  output: 'facts',
});
const tone = agent({ name: 'tone', model: scriptedModel([{ text: 'friendly' }]), output: 'tone' });

const research = parallel({ name: 'research', runnables: [facts, tone] });

const writer = agent({
  name: 'writer',
  model: scriptedModel([{ text: 'First draft' }, { text: 'Second draft' }]),
  output: 'draft',
});
const review = step({
  name: 'review',
  execute: (ctx) => {
    ctx.state.approved = ctx.state.draft === 'Second draft';
  },
});
const revise = loop({
  name: 'revise',
  runnable: sequence({ name: 'write_and_review', runnables: [writer, review] }),
  maxIterations: 5,
  while: (ctx) => ctx.state.approved !== true,
});

const publish = step({
  name: 'publish',
  execute: (ctx) => ctx.complete(`${ctx.state.draft} (${ctx.state.tone}): ${ctx.state.facts}`),
});

const result = await run(
  sequence({ name: 'article', runnables: [research, revise, publish] }),
  'Write about boiling water.',
);
console.log(result.output);

const tree = runTree(result.session.events)[0];
for (const part of tree?.children ?? [])
  console.log(`${part.name}: ${part.status}, ${part.children.length} parts`);

assert.equal(result.output, 'Second draft (friendly): Water boils at 100 °C.');
assert.equal(result.rounds, 4);
assert.deepEqual(
  tree?.children.map(({ name, children }) => [name, children.length]),
  [
    ['research', 2],
    ['revise', 2],
    ['publish', 0],
  ],
);
