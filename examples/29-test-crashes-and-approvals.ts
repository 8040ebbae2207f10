/**
 * Tests of what seldom happens: processes that die, people who refuse, change or do not answer. No
 * test waits; time passes when the script says so.
 */
import assert from 'node:assert/strict';
import { agent, openai, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import {
  advanceTime,
  answer,
  approve,
  crash,
  edit,
  expectPrompt,
  model,
  reject,
  runTest,
  type TestStep,
  user,
} from 'adjutant/testing';
import { z } from 'zod';

const minute = 60_000;

// Transfers at the bank. They stay when our process dies.
const transfers: { cents: number; key: string }[] = [];
const transfer = tool({
  name: 'transfer',
  description: 'Transfers money',
  schema: z.object({ cents: z.int().positive() }),
  approval: {
    when: ({ args }) => args.cents > 10_000,
    allowEdit: true,
    mayDecide: ['user:ann'],
    expiresInMs: 30 * minute,
  },
  // Nobody knows whether a transfer that was cut off was made: somebody has to look.
  recovery: 'ask',
  execute: (ctx) => {
    transfers.push({ cents: ctx.args.cents, key: ctx.idempotencyKey });
    return { transferred: ctx.args.cents };
  },
});
const teller = agent({ name: 'teller', model: openai('gpt-5-mini'), tools: [transfer] });

const asks = (cents: number): TestStep[] => [
  user('Transfer it.'),
  model({ toolCalls: [{ name: 'transfer', args: { cents } }] }),
];
const isTold = (text: RegExp) =>
  expectPrompt((prompt) => assert.match(JSON.stringify(prompt.at(-1)), text));
const made = (): number[] => transfers.splice(0).map(({ cents }) => cents);

// The process may die between any two steps; a new one goes on from the ledger.
const survived = await runTest(teller, [
  user('Transfer it.'),
  crash(),
  ...asks(500).slice(1),
  crash(),
  model('Done.'),
  crash(),
]);
console.log('crashed three times:', survived.output);
assert.equal(survived.output, 'Done.');
assert.deepEqual(made(), [500], 'transferred once');

// Inside the tool it is harder: the ledger cannot say whether the money is on its way. So a person
// is asked.
await runTest(teller, [
  ...asks(500),
  crash({ after: 'transfer' }),
  answer('succeeded', { tool: 'transfer', input: { transferred: 500 }, by: 'operator:eve' }),
  isTold(/transferred/),
  model('Done.'),
]);
assert.deepEqual(made(), [500], 'and not again');
await runTest(teller, [
  ...asks(500),
  crash({ before: 'transfer' }),
  answer('retry', { tool: 'transfer', by: 'operator:eve' }),
  model('Done.'),
]);
assert.deepEqual(made(), [500]);

// Approvals: small sums need none, large ones wait.
assert.equal((await runTest(teller, [...asks(10_000), model('Done.')])).status, 'completed');
assert.deepEqual(made(), [10_000]);
const waiting = await runTest(teller, asks(10_001));
assert.equal(waiting.status, 'yielded');
assert.deepEqual(waiting.result.pendingApprovals[0]?.args, { cents: 10_001 });
assert.deepEqual(made(), [], 'the most important line of this file');

await runTest(teller, [
  ...asks(20_000),
  crash(),
  approve({ tool: 'transfer', by: 'user:ann' }),
  model('Done.'),
]);
assert.deepEqual(made(), [20_000]);

// Ann makes it less. The model is told what was really done.
const edited = await runTest(teller, [
  ...asks(20_000),
  edit({ transfer: { cents: 15_000 } }, { by: 'user:ann' }),
  isTold(/15000/),
  model('150 €.'),
]);
assert.deepEqual(made(), [15_000]);
assert.deepEqual(edited.events.find((event) => event.type === 'tool_result')?.editedArgs, {
  cents: 15_000,
});

await runTest(teller, [
  ...asks(20_000),
  reject({ by: 'user:ann', reason: 'Too much' }),
  isTold(/Too much/),
  model('I may not.'),
]);

// Nobody answers for half an hour: the request expires, and a process that died meanwhile changes
// nothing about that.
const expired = await runTest(teller, [
  ...asks(20_000),
  advanceTime(29 * minute),
  crash(),
  advanceTime(1 * minute),
  model('Nobody has allowed it.'),
]);
console.log('after half an hour:', expired.output);
assert.equal(
  expired.events.find((event) => event.type === 'tool_result')?.result.errorType,
  'expired',
);
assert.deepEqual(made(), []);

// A script runs on any store.
const store = sqlite(':memory:');
const stored = await runTest(teller, [...asks(500), crash(), model('Done.')], { store });
assert.equal(stored.output, 'Done.');
assert.deepEqual(made(), [500]);
await store.close();
