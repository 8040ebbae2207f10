/**
 * The parts of `runTest` by themselves, for tests that run an app of their own: a model that is
 * scripted, a session with a past, a stream that is collected.
 */
import assert from 'node:assert/strict';
import { agent, openai, run, runtime, tool } from 'adjutant';
import { includeHistory, injectSystemMessage, promptAt } from 'adjutant/context';
import {
  collectStream,
  createTestSession,
  forbidRealModels,
  scriptedModel,
  testClock,
} from 'adjutant/testing';
import { z } from 'zod';

// Nothing below may call a real model, whatever somebody forgets. The environment variable
// ADJUTANT_REAL_MODELS=forbid does the same.
forbidRealModels();
const forgotten = await run(agent({ name: 'forgotten', model: openai('gpt-5-mini') }), 'Hello');
assert.equal(forgotten.error?.code, 'real_model_forbidden');

// One answer for each call, and one for all calls after that.
const model = scriptedModel([{ text: 'Hello' }], { defaultResponse: { text: 'Default' } });
const greeter = agent({
  name: 'greeter',
  model,
  context: [injectSystemMessage('You greet.'), includeHistory()],
});
const app = runtime({ app: 'test' });
const first = await app.run(greeter, { session: 's', input: 'Hi' });
const second = await app.run(greeter, { session: 's', input: 'Hi again' });
console.log(first.output, second.output);
assert.deepEqual([first.output, second.output], ['Hello', 'Default']);

// The questions to the model, and the use of all its answers.
assert.deepEqual(
  model.calls[1]?.prompt.map(({ role }) => role),
  ['system', 'user', 'assistant', 'user'],
);
assert.equal(model.remaining, 0);
model.assertDone();

// A function answers by the prompt.
const echo = scriptedModel((prompt) => ({ text: `I got ${prompt.length} messages.` }));
assert.equal((await run(agent({ name: 'echo', model: echo }), 'Hi')).output, 'I got 1 messages.');

// The stream of a run, collected. `chunks` are the pieces in which a text comes.
const add = tool({
  name: 'add',
  description: 'Adds',
  schema: z.object({ a: z.number(), b: z.number() }),
  execute: (ctx) => ctx.args.a + ctx.args.b,
});
const thinker = scriptedModel([
  { thoughts: 'I need a tool.', toolCalls: [{ name: 'add', args: { a: 2, b: 2 } }] },
  { chunks: ['The answer ', 'is ', '4'] },
]);
const { stream, text, result } = await collectStream(
  run(agent({ name: 'pupil', model: thinker, tools: [add] }), '2 + 2?'),
);
assert.equal(text, 'The answer is 4');
assert.equal(result.output, text);
assert.equal(stream.filter(({ type }) => type === 'assistant_delta').length, 3);
assert.ok(stream.some((event) => event.type === 'thought' && event.text === 'I need a tool.'));

// A session that has a past: state and messages from before the test.
const session = await createTestSession({
  userId: 'ann',
  state: { orders: 3, user: { name: 'Ann' } },
  messages: ['I am in a hurry.'],
});
const polite = agent({
  name: 'polite',
  model: scriptedModel([{ text: 'Quickly, then.' }]),
  context: [
    injectSystemMessage(
      ({ state }) =>
        `You talk to ${state.user?.['name']}, who has ordered ${state.session?.['orders']} times.`,
    ),
    includeHistory(),
  ],
});
await run(polite, { session, input: 'Are you there?' });
const { prompt } = promptAt(session, 1); // of the first model call
assert.equal(prompt[0]?.content, 'You talk to Ann, who has ordered 3 times.');
assert.equal(prompt.length, 3);

// Time that stands still until the test lets it pass. Answers may take as long as they like.
const clock = testClock();
const slow = agent({
  name: 'slow',
  model: scriptedModel([{ text: 'too late', delayMs: 60_000 }], { clock }),
});
const running = runtime({ app: 'test', ports: { clock } }).run(slow, {
  input: 'Hello?',
  timeoutMs: 30_000,
});
for await (const event of running) if (event.type === 'model_start') break;
clock.advance(30_000);
assert.equal((await running).error?.code, 'timeout');
await app.close();
