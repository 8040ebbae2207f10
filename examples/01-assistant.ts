/** A conversation over several turns on one session, with tools. */
import assert from 'node:assert/strict';
import { agent, run, session, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const stock = new Map([['lamp', 3]]);

const checkStock = tool({
  name: 'checkStock',
  description: 'Says how many pieces of a product are in stock',
  schema: z.object({ product: z.string() }),
  readOnly: true,
  execute: (ctx) => ({ product: ctx.args.product, pieces: stock.get(ctx.args.product) ?? 0 }),
});

const order = tool({
  name: 'order',
  description: 'Orders pieces of a product',
  schema: z.object({ product: z.string(), pieces: z.int().positive() }),
  execute: (ctx) => {
    const { product, pieces } = ctx.args;
    stock.set(product, (stock.get(product) ?? 0) - pieces);
    ctx.state.update('ordered', (before) => Number(before ?? 0) + pieces);
    return { ordered: pieces };
  },
});

const assistant = agent({
  name: 'assistant',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel([
    { toolCalls: [{ name: 'checkStock', args: { product: 'lamp' } }] },
    { text: 'There are 3 lamps.' },
    { toolCalls: [{ name: 'order', args: { product: 'lamp', pieces: 2 } }] },
    { text: 'I have ordered 2 lamps.' },
    { text: 'You asked about lamps and ordered 2.' },
  ]),
  instructions: 'You help the customers of a shop.',
  tools: [checkStock, order],
});

const chat = await session('shop', { id: 'chat-1' });
const answers: (string | undefined)[] = [];
for (const question of ['Do you have lamps?', 'I take two.', 'What did we talk about?']) {
  const result = await run(assistant, { session: chat, input: question });
  console.log(`> ${question}\n${result.output}  (${result.toolCalls.length} tool calls)`);
  answers.push(result.output);
}

assert.deepEqual(answers, [
  'There are 3 lamps.',
  'I have ordered 2 lamps.',
  'You asked about lamps and ordered 2.',
]);
assert.equal(stock.get('lamp'), 1);
assert.equal(chat.state.ordered, 2);
assert.equal(chat.status, 'completed');
