/**
 * Answers that are values: held to a schema, mended when they do not fit, checked against a goal,
 * and handed to the next agent under a typed key of the session's state.
 */
import assert from 'node:assert/strict';
import { agent, output, run, sequence, session } from 'adjutant';
import { includeHistory, injectSystemMessage, message } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { z } from 'zod';

const order = z.object({ product: z.string(), pieces: z.int().positive() });
const stateSchema = { session: { order } };

const clerk = agent({
  name: 'clerk',
  // With a real model: model: openai('gpt-5-mini'), which is held to the schema by the provider.
  model: scriptedModel([
    // JSON among words, in single quotes: it is found and read. It does not fit, so the model is
    // told where.
    { text: "Here is the order: {'product': 'lamp', 'pieces': 'three'}" },
    // It fits, and does not do what was asked.
    { text: '{"product": "lamp", "pieces": 30}' },
    { text: '{"product": "lamp", "pieces": 3}' },
  ]),
  context: [injectSystemMessage('Read orders.'), includeHistory()],
  // The key is checked when you compile, and so is the type of what `check` gets.
  output: output(stateSchema, 'order'),
  goal: {
    description: 'An order as the customer wrote it',
    check: ({ pieces }) =>
      pieces <= 10 || `the shop sells at most 10 pieces, not ${pieces}: read the message again`,
  },
});

const packer = agent({
  name: 'packer',
  model: scriptedModel([{ text: '4.5' }]),
  context: [
    injectSystemMessage(
      message(
        stateSchema,
        ({ state }) =>
          `Pack ${state.order?.pieces} of ${state.order?.product}. How many kilograms is it?`,
      ),
    ),
  ],
  // A primitive is read from whatever the model writes: 4.5, **4.5**, "4.5".
  output: z.number(),
});

const shop = await session('shop', { stateSchema });
const result = await run(sequence({ name: 'sale', runnables: [clerk, packer] }), {
  session: shop,
  input: 'Three lamps, please!',
});
console.log(`${shop.state.order?.pieces} of ${shop.state.order?.product}: ${result.output} kg`);
assert.deepEqual(shop.state.order, { product: 'lamp', pieces: 3 });
assert.equal(result.output, 4.5);

for (const { component, decision, why } of explain(shop))
  console.log(`${component} ${decision}: ${why}`);
assert.deepEqual(
  explain(shop).map(({ component, decision }) => `${component}: ${decision}`),
  ['output: repair', 'goal: again'],
);

// A value that never fits ends the agent with an error, after two repairs.
const failed = await run(
  agent({
    name: 'stubborn',
    model: scriptedModel([], { defaultResponse: { text: 'no number' } }),
    output: z.number(),
  }),
  'How many?',
);
assert.equal(failed.error?.code, 'validation_error');
assert.equal(failed.rounds, 3);
