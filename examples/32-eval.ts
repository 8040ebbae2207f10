/**
 * Measures how good an agent is, and whether a change makes it better. Cases, two variants,
 * scorers; then a recorded conversation, forked at each message and tried again.
 */
import assert from 'node:assert/strict';
import { agent, run, runtime, session, tool } from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import {
  type EvalCaseInput,
  evalReportHtml,
  evaluate,
  responseMatch,
  scorer,
  steps,
  toolTrajectory,
} from 'adjutant/eval';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const findOrder = tool({
  name: 'findOrder',
  description: 'Finds an order',
  schema: z.object({ order: z.string() }),
  readOnly: true,
  execute: ({ args }) => ({
    order: args.order,
    state: args.order === '17' ? 'on its way' : 'delivered',
  }),
});

/**
 * The agent under test. With a real model, such as openai('gpt-5-mini'), only the instructions
 * would differ.
 */
function clerk(instructions: string) {
  const model = scriptedModel((prompt): ScriptedResponse => {
    const said = JSON.stringify(prompt.findLast(({ role }) => role === 'user')?.content);
    const order = /\d+/.exec(said)?.[0];
    if (prompt.at(-1)?.role === 'tool')
      return {
        text: `Order ${order} is ${/on its way|delivered/.exec(JSON.stringify(prompt.at(-1)))}.`,
      };
    if (order !== undefined) return { toolCalls: [{ name: 'findOrder', args: { order } }] };
    return { text: instructions.includes('Ask') ? 'Which order do you mean?' : 'It is delivered.' };
  });
  return agent({
    name: 'clerk',
    model,
    tools: [findOrder],
    context: [injectSystemMessage(instructions), includeHistory()],
  });
}

const cases: EvalCaseInput[] = [
  {
    id: 'on-its-way',
    input: 'Where is order 17?',
    expect: {
      tools: [{ name: 'findOrder', args: { order: '17' } }],
      response: { contains: 'on its way' },
    },
  },
  {
    id: 'delivered',
    input: 'Where is order 4?',
    expect: { tools: [{ name: 'findOrder' }], response: { contains: 'delivered' } },
  },
  {
    id: 'no-number',
    tags: ['vague'],
    input: 'Where is my order?',
    expect: { tools: [], response: { matches: /which order/i } },
  },
  {
    id: 'two-turns',
    tags: ['vague'],
    turns: [
      { user: 'Where is it?', expect: { tools: [], response: { contains: 'Which order' } } },
      {
        user: 'Number 17',
        expect: { tools: [{ name: 'findOrder' }], response: 'Order 17 is on its way.' },
      },
    ],
  },
];

/** Code that judges what no comparison can. */
const isShort = scorer({
  name: 'is_short',
  score: ({ turns }) => turns.every(({ answer }) => answer.split(' ').length <= 10),
});

const variant = (name: string, instructions: string) => ({
  name,
  app: () => runtime({ app: `shop-${name}` }),
  runnable: clerk(instructions),
});
const report = await evaluate({
  name: 'clerk',
  dataset: cases,
  variants: [
    variant('today', 'You look up orders.'),
    variant('asks', 'You look up orders. Ask when the number is missing.'),
  ],
  scorers: [toolTrajectory(), responseMatch(), isShort, steps({ budget: 4 })],
  trials: 3,
  threshold: 0.9, // what a build would hold every variant to
});

for (const { name, summary } of report.variants)
  console.log(name, `${summary.passed} of ${summary.trials}`, summary.passRate);
const [today, asks] = report.variants;
assert.equal(today?.summary.passed, 6);
assert.equal(asks?.summary.passed, 12);
assert.equal(report.passed, false, 'today is below the threshold');
assert.deepEqual(report.comparisons[0]?.improved, ['no-number', 'two-turns']);
const why = today?.cases
  .find(({ id }) => id === 'no-number')
  ?.trials[0]?.scores.find(({ passed }) => !passed);
console.log('no-number:', why?.scorer, why?.explanation);
assert.equal(why?.scorer, 'response_match');
// A page with charts, by itself in one file.
assert.match(evalReportHtml(report), /^<!doctype html>/i);

// Ask the new instructions at each place of a real conversation. A fork is a copy; the conversation
// stays as it is.
const inProduction = clerk('You look up orders.');
const { session: recorded } = await run(inProduction, 'Where is it?');
await run(inProduction, { session: recorded, input: 'Order 4, I mean' });

const candidate = clerk('You look up orders. Ask when the number is missing.');
const answers: { asked: string; recorded: unknown; candidate: unknown }[] = [];
for (const asked of recorded.events.filter((event) => event.type === 'user')) {
  // An app has one agent of a name. Another version of it gets an app of its own, which is what
  // `fromSnapshot` does.
  const fork = await session.fromSnapshot(recorded.forkAt(asked.seq).toJSON());
  const { output } = await run(candidate, { session: fork });
  const said = recorded.events.find(
    (event) => event.type === 'invocation_end' && event.seq > asked.seq,
  );
  answers.push({
    asked: asked.text,
    recorded: said?.type === 'invocation_end' ? said.output : undefined,
    candidate: output,
  });
}
console.log(answers);
assert.deepEqual(answers, [
  { asked: 'Where is it?', recorded: 'It is delivered.', candidate: 'Which order do you mean?' },
  {
    asked: 'Order 4, I mean',
    recorded: 'Order 4 is delivered.',
    candidate: 'Order 4 is delivered.',
  },
]);

// The state at any place is there too, for a judge who has to know it.
assert.equal(recorded.stateAt(1).status, 'active');
assert.equal(recorded.stateAt(recorded.events.length).status, 'completed');
