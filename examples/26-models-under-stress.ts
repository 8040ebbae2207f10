/**
 * Models that fail: the next one of a list answers, also after a refusal, and a model that cannot
 * call tools works with tools all the same.
 */
import assert from 'node:assert/strict';
import { agent, runtime, textPrompt, textProtocol, tool } from 'adjutant';
import { promptAt } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { z } from 'zod';

const distance = tool({
  name: 'distance',
  description: 'Gives the distance of a planet from the sun',
  schema: z.object({ planet: z.string() }),
  readOnly: true,
  execute: ({ args }) => (args.planet === 'Mars' ? '228 million kilometres' : 'unknown'),
});

// A spent quota: there is no use in trying again. With real models, such as openai('gpt-5', {
// apiKey: [first, second], reasoning: { effort: 'high' } }),
// the next key is tried before the next model, and for other failures less reasoning too.
const quota = Object.assign(
  new Error('You exceeded your current quota, please check your plan and billing details.'),
  { statusCode: 429 },
);
const spent = scriptedModel([], { modelId: 'large', defaultResponse: { error: quota } });
const shy = scriptedModel([], {
  modelId: 'shy',
  defaultResponse: { text: 'I cannot help with that.', finishReason: 'content-filter' },
});
// A small model that has only text, and writes as small models do: single quotes, and a comma too
// many.
const small = scriptedModel(
  [
    {
      text:
        "Thought: I should look it up.\nAction: {'tool': 'distance', 'arguments': {'planet': " +
        "'Mars',}}",
    },
    {
      text: 'Thought: Now I know.\nFinal Answer: Mars is 228 million kilometres away from the sun.',
    },
  ],
  { modelId: 'small' },
);

const app = runtime({ app: 'sky' });
const astronomer = agent({
  name: 'astronomer',
  model: [spent, shy, textProtocol(small)],
  tools: [distance],
});
const { output, session, toolCalls, rounds } = await app.run(
  astronomer,
  'How far is Mars from the sun?',
);
console.log(output);
assert.equal(output, 'Mars is 228 million kilometres away from the sun.');
assert.deepEqual([spent.calls.length, shy.calls.length, small.calls.length], [1, 1, 2]);
// The next round begins with the model that answered. Calls of tools are calls like any other.
assert.equal(rounds, 2);
assert.equal(toolCalls[0]?.success, true);

for (const { what, why } of explain(session)) console.log(`${what} ${why}`);
assert.deepEqual(
  explain(session).map(({ decision, data }) => `${decision}: ${data?.['code']}`),
  [
    'failed: model_rate_limit',
    'fallback: model_rate_limit',
    'failed: model_refusal',
    'fallback: model_refusal',
  ],
);

// The prompt of the small model: the tools are described in words, and results come back as
// observations.
const { prompt } = textPrompt(promptAt(session, 4));
assert.deepEqual(prompt, small.calls[1]?.prompt);
assert.match(JSON.stringify(prompt), /Observation \(distance\): 228 million kilometres/);

// Where no other model is left, the words of a refusal are the answer.
const alone = await app.run(agent({ name: 'alone', model: shy }), 'How far is Mars from the sun?');
assert.equal(alone.status, 'completed');
assert.equal(alone.output, 'I cannot help with that.');
await app.close();
