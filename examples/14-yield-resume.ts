/**
 * Runs that wait for somebody: a tool that is an answer, a tool that asks before it acts, and a
 * loop that is a conversation.
 */
import assert from 'node:assert/strict';
import { agent, loop, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const app = runtime({ app: 'travel' });

// A tool without `execute`: what somebody outside gives is its result.
const askTraveller = tool({
  name: 'askTraveller',
  description: 'Asks the traveller a question',
  schema: z.object({ question: z.string() }),
  yieldSchema: z.object({ answer: z.string() }),
});

// A tool with both: it runs once somebody has confirmed.
const booked: string[] = [];
const book = tool({
  name: 'book',
  description: 'Books a train',
  schema: z.object({ to: z.string(), cents: z.int() }),
  yieldSchema: z.object({ confirmed: z.boolean() }),
  execute: (ctx) => {
    if (!ctx.input.confirmed) return { booked: false };
    booked.push(ctx.args.to);
    return { booked: true, cents: ctx.args.cents };
  },
});

const traveller = agent({
  name: 'traveller',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel([
    { toolCalls: [{ name: 'askTraveller', args: { question: 'Where to?' } }] },
    { toolCalls: [{ name: 'book', args: { to: 'Lisbon', cents: 8_900 } }] },
    { text: 'You are going to Lisbon.' },
  ]),
  tools: [askTraveller, book],
});

let result = await app.run(traveller, 'I want to go away');
const [question] = result.pendingCalls;
console.log(result.status, question?.name, question?.args);
assert.equal(result.status, 'yielded');
assert.deepEqual(question?.args, { question: 'Where to?' });
assert.ok(question);

// Nothing runs while it waits: the answer may come after a minute or a year, in this process or in
// another one.
result.session.addToolInput(question.callId, { answer: 'Lisbon' });
result = await app.run(traveller, { session: result.session });

const [confirmation] = result.pendingCalls;
console.log(result.status, confirmation?.name, confirmation?.args);
assert.equal(confirmation?.name, 'book');
assert.deepEqual(booked, [], 'nothing is booked before it is confirmed');
result.session.addToolInput(confirmation.callId, { confirmed: true });
result = await app.run(traveller, { session: result.session });

console.log(result.status, result.output);
assert.equal(result.output, 'You are going to Lisbon.');
assert.deepEqual(booked, ['Lisbon']);

// A conversation: between its rounds the loop waits for a message.
const concierge = loop({
  name: 'concierge',
  runnable: agent({
    name: 'talker',
    model: scriptedModel([
      { text: 'Which day?' },
      { text: 'Tuesday it is.' },
      { text: 'Bon voyage!' },
    ]),
  }),
  maxIterations: 3,
  yields: true,
});
let talk = await app.run(concierge, 'I need a hotel');
const heard: unknown[] = [];
for (const message of ['Tuesday', 'Thank you']) {
  assert.ok(talk.awaitingInput);
  heard.push(talk.session.events.findLast(({ type }) => type === 'assistant'));
  talk.session.addMessage(message, talk.yieldedInvocationId);
  talk = await app.run(concierge, { session: talk.session });
}
console.log(talk.status, talk.output);
assert.deepEqual([talk.status, talk.output], ['completed', 'Bon voyage!']);
assert.deepEqual(
  heard.map((event) => (event as { text: string }).text),
  ['Which day?', 'Tuesday it is.'],
);
