/**
 * Thoughts of reasoning models: streamed while they come, recorded in the ledger, and left out of
 * later prompts if you like.
 */
import assert from 'node:assert/strict';
import { agent, claude, gemini, openai, run } from 'adjutant';
import { includeHistory, pruneReasoning } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';

// Every provider has its own settings for thinking. Making a model needs no key: it is loaded on
// its first call.
const models = [
  openai('gpt-5-mini', { reasoning: { effort: 'low' } }),
  gemini('gemini-3-flash-preview', {
    thinkingConfig: { thinkingLevel: 'low', includeThoughts: true },
  }),
  claude('claude-sonnet-4-5', { maxTokens: 8_000, thinking: { budgetTokens: 4_096 } }),
];
for (const model of models)
  console.log(`${model.provider}:${model.modelId} ${JSON.stringify(model.settings)}`);

const thinker = agent({
  name: 'thinker',
  // With a real model: model: models[0]
  model: scriptedModel([
    {
      thoughts: 'A bat costs a dollar more than the ball: x + (x + 1) = 1.10.',
      chunks: ['The ball ', 'costs 5 cents.'],
    },
  ]),
  context: [includeHistory(), pruneReasoning()],
});

const running = run(
  thinker,
  'A bat and a ball cost $1.10; the bat costs a dollar more than the ball. What does the ' +
    'ball cost?',
);
let thoughts = '';
let text = '';
for await (const event of running) {
  if (event.type === 'thought_delta') thoughts += event.delta;
  if (event.type === 'assistant_delta') text += event.delta;
}
const result = await running;
console.log(`thought: ${thoughts}\nanswer:  ${text}`);

const recorded = result.session.events.find((event) => event.type === 'thought');
assert.equal(recorded?.text, thoughts);
assert.equal(result.output, text);
assert.equal(text, 'The ball costs 5 cents.');
assert.deepEqual(models[2]?.settings.providerOptions, {
  anthropic: { thinking: { type: 'enabled', budgetTokens: 4_096 } },
});
