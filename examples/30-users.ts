/**
 * Somebody who talks to an agent: a script, a person at a terminal, other agents, or a model with a
 * plan. `converse` brings the two together.
 */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { agent, loop, runtime, tool } from 'adjutant';
import { agentUser, converse, humanUser, scriptedUser, simulatedUser } from 'adjutant/conversation';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const ask = tool({
  name: 'ask',
  description: 'Asks the user a question',
  schema: z.object({ question: z.string() }),
  yieldSchema: z.object({ answer: z.string() }),
});
const confirm = tool({
  name: 'confirm',
  description: 'Has the user confirm an order',
  schema: z.object({ item: z.string(), cents: z.int() }),
  yieldSchema: z.object({ confirmed: z.boolean() }),
});

const asks = (question: string) => ({ toolCalls: [{ name: 'ask', args: { question } }] });
const confirms = (cents: number) => ({
  toolCalls: [{ name: 'confirm', args: { item: 'coffee', cents } }],
});
// With a real model: model: openai('gpt-5-mini')
const waiter = (answers: readonly ScriptedResponse[]) =>
  agent({ name: 'waiter', model: scriptedModel(answers), tools: [ask, confirm] });

// A script: answers in order, answers that depend on the arguments, and messages. Whatever it is
// asked beyond that is an error, not a silence.
const script = scriptedUser({
  messages: ['A coffee, please', 'Thank you'],
  tools: {
    ask: [{ answer: 'yes' }, { answer: 'no' }],
    confirm: (args: { cents: number }) => ({ confirmed: args.cents < 500 }),
  },
});
const scripted = await converse(
  runtime({ app: 'café' }),
  waiter([
    asks('With milk?'),
    asks('With sugar?'),
    confirms(350),
    { text: 'A coffee with milk.' },
    { text: 'You are welcome.' },
  ]),
  { user: script },
);
console.log(
  scripted.ended,
  scripted.output,
  scripted.answers.map(({ input }) => input),
);
assert.equal(scripted.ended, 'completed');
assert.deepEqual(
  scripted.answers.map(({ toolName, input }) => [toolName, input]),
  [
    ['ask', { answer: 'yes' }],
    ['ask', { answer: 'no' }],
    ['confirm', { confirmed: true }],
  ],
);
script.assertUsed();

// A loop that yields is one run that waits for a message between its rounds.
const chat = loop({
  name: 'chat',
  runnable: agent({
    name: 'talker',
    model: scriptedModel([{ text: 'Hi!' }, { text: 'See you.' }]),
  }),
  maxIterations: 10,
  yields: true,
});
const talked = await converse(runtime({ app: 'app' }), chat, {
  user: scriptedUser({ messages: ['Hello', 'Goodbye'] }),
});
assert.deepEqual([talked.ended, talked.turns, talked.results.length], ['user_done', 2, 1]);
assert.deepEqual(
  talked.transcript.map((entry) => ('text' in entry ? entry.text : entry.kind)),
  ['Hello', 'Hi!', 'Goodbye', 'See you.'],
);

// A person: `humanUser()` is at this terminal. Here the keyboard is a stream.
const keyboard = new PassThrough();
keyboard.end('A tea, please\n{"answer": "a large one"}\n');
const screen = new PassThrough();
const person = humanUser({
  input: keyboard,
  output: screen,
  formatPrompt: ({ toolName, args }) => `Enter input for ${toolName} ${JSON.stringify(args)}: `,
  parseInput: (typed) => JSON.parse(typed),
});
const typed = await converse(
  runtime({ app: 'app' }),
  waiter([asks('Which size?'), { text: 'A large tea.' }]),
  {
    user: person,
  },
);
assert.deepEqual(typed.answers[0]?.input, { answer: 'a large one' });
assert.match(String(screen.read()), /Enter input for ask \{"question":"Which size\?"\}: /);

// Agents that play the user: one talks, one answers what a tool asks; the bridge translates. Their
// runs are in a session of their own.
const customer = agentUser({
  loop: agent({ name: 'customer', model: scriptedModel([{ text: 'A cake' }, { text: 'DONE' }]) }),
  tools: { ask: agent({ name: 'taste', model: scriptedModel([{ text: 'chocolate' }]) }) },
  bridge: {
    formatPrompt: ({ turn, question }) =>
      turn === undefined
        ? JSON.stringify(question.args)
        : `The waiter said: ${JSON.stringify(turn.reply)}`,
    formatResponse: (output, { question }) => {
      if (question !== undefined) return { answer: String(output) };
      return output === 'DONE' ? { done: true } : output;
    },
  },
});
const app = runtime({ app: 'café' });
const played = await converse(app, waiter([asks('Which one?'), { text: 'One chocolate cake.' }]), {
  user: customer,
  session: 'cake',
});
console.log(played.ended, played.output);
assert.deepEqual(played.answers[0]?.input, { answer: 'chocolate' });
const behind = await app.sessions.open({ id: 'cake-conversation-user' });
assert.ok(
  behind.events.some(
    (event) => event.type === 'user' && event.text === 'The waiter said: "One chocolate cake."',
  ),
);

// One model with a plan needs no bridge.
const guest = simulatedUser({
  startingPrompt: 'Do you have a table?',
  conversationPlan: 'You want a table for two at eight. Say the time only when you are asked.',
  maxTurns: 5,
  // In earnest: model: openai('gpt-5-mini')
  model: scriptedModel([
    { text: '{"done":false,"message":"At eight","reason":""}' },
    { text: '{"done":true,"message":"","reason":"It is booked"}' },
  ]),
});
const planned = await converse(
  runtime({ app: 'app' }),
  waiter([{ text: 'When?' }, { text: 'Booked for eight.' }]),
  {
    user: guest,
  },
);
assert.deepEqual([planned.ended, planned.reason, planned.turns], ['user_done', 'It is booked', 2]);
