/**
 * Tests with `runTest`: what the user says, what the model answers, what the world does. Everything
 * else is the real runtime. No test runner is needed; testing/ has the same in vitest and jest.
 */
import assert from 'node:assert/strict';
import { agent, openai, tool, toolResult } from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import {
  expectPrompt,
  input,
  ledgerStory,
  model,
  result,
  runTest,
  TestStepError,
  testAgent,
  user,
} from 'adjutant/testing';
import { z } from 'zod';

// A tool without `execute`: its result comes from outside.
const calculate = tool({
  name: 'calculate',
  description: 'Has somebody calculate',
  schema: z.object({ expr: z.string() }),
  yieldSchema: z.object({ answer: z.number() }),
});

// The agent of production. Its model is never called in a test, and needs no key.
const pupil = agent({
  name: 'pupil',
  model: openai('gpt-5-mini'),
  context: [injectSystemMessage('You answer in one sentence.'), includeHistory()],
  tools: [calculate],
});

// Four steps, and what each leaves in the ledger.
const sum = await runTest(pupil, [
  user('Calculate 2 + 2'),
  model({ toolCalls: [{ name: 'calculate', args: { expr: '2+2' } }] }),
  input({ calculate: { answer: 4 } }),
  model({ text: 'The answer is 4' }),
]);
console.log(sum.status, sum.output);
assert.equal(sum.status, 'completed');
assert.equal(sum.output, 'The answer is 4');
assert.equal(
  ledgerStory(sum),
  `user: Calculate 2 + 2
agent pupil starts
  pupil calls calculate({ expr: '2+2' })
    calculate waits for input
    calculate is answered: { answer: 4 }
    calculate gives { answer: 4 }
  pupil waits for an answer
  pupil goes on
  pupil: The answer is 4
  pupil ends`,
);

// A tool that asks first and then calls a service. In a test the user confirms by `input`, and
// `result` stands for the service: `execute` is not run.
const bookAppointment = tool({
  name: 'bookAppointment',
  description: 'Books an appointment',
  schema: z.object({ date: z.string() }),
  yieldSchema: z.object({ confirmed: z.boolean() }),
  execute: () => assert.fail('a test must not call the booking service'),
});
const desk = agent({ name: 'desk', model: openai('gpt-5-mini'), tools: [bookAppointment] });
const asksToBook = [
  user('Book me in.'),
  model({ toolCalls: [{ name: 'bookAppointment', args: { date: '2024-01-15' } }] }),
];

const booked = await runTest(desk, [
  ...asksToBook,
  input({ bookAppointment: { confirmed: true } }), // the user confirms
  result({ bookAppointment: { bookingId: '123' } }), // what the service would give
  model('You are booked in: 123.'),
]);
console.log(booked.output);
assert.deepEqual(booked.events.find((event) => event.type === 'tool_result')?.result.content, {
  bookingId: '123',
});

// The service may fail as well, or give something that depends on the arguments.
const full = await runTest(desk, [
  ...asksToBook,
  input({ bookAppointment: { confirmed: true } }),
  result({ bookAppointment: toolResult.permanent('Fully booked') }),
  expectPrompt((prompt) => assert.match(JSON.stringify(prompt.at(-1)), /Fully booked/)),
  model('There is no room on that day.'),
]);
assert.equal(full.output, 'There is no room on that day.');

const echoed = await runTest(desk, [
  ...asksToBook,
  input({ bookAppointment: { confirmed: true } }),
  result({ bookAppointment: (args: { date: string }) => ({ bookingId: `B-${args.date}` }) }),
  model('Done.'),
]);
assert.match(JSON.stringify(echoed.prompts.at(-1)), /B-2024-01-15/);

// The prompt is a part of the agent, so test it: `expectPrompt` looks at the call that the next
// `model` step answers.
await runTest(pupil, [
  user('Hello'),
  expectPrompt((prompt, call) => {
    assert.deepEqual(prompt[0], { role: 'system', content: 'You answer in one sentence.' });
    assert.deepEqual(
      call.options.tools?.map(({ name }) => name),
      ['calculate'],
    );
  }),
  model('Hello.'),
  user('And now?'), // another run on the same session
  expectPrompt((prompt) => assert.equal(prompt.filter(({ role }) => role !== 'system').length, 3)),
  model((call) => `I am ${call.agent}.`),
]);

// A script that the run does not follow fails, and says what happened instead.
await assert.rejects(
  runTest(pupil, [user('Hello'), input({ calculate: { answer: 4 } }), model('4')]),
  (error) => {
    assert.ok(error instanceof TestStepError);
    console.log(error.message);
    assert.match(error.message, /^Step 2 of 3, input/);
    return true;
  },
);

// For one message and a list of answers there is a shorthand.
const { output } = await testAgent(pupil, { input: 'Hello', responses: ['Hello!'] });
assert.equal(output, 'Hello!');
