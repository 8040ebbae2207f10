/**
 * Invoices on a known way: a router chooses who is to answer, and behind the route of invoices a
 * graph looks into the ERP system, repairs what does not match, and asks a person above a limit.
 */
import assert from 'node:assert/strict';
import { agent, runtime, step } from 'adjutant';
import { graph, graphMermaid, graphViews, router } from 'adjutant/plan';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';

const extract = step({
  name: 'extract',
  execute: (ctx) => {
    const [, cents = '0'] = /(\d+) cents/.exec(ctx.message ?? '') ?? [];
    return ctx.complete({ invoice: 'INV-7', cents: Number(cents) });
  },
});
const lookUp = step({
  name: 'look up',
  execute: (ctx) => {
    // The order is found when its number has been corrected.
    const given = ctx.input?.data;
    return typeof given === 'string' && given.includes('PO-71')
      ? ctx.complete({ matched: true, cents: 90_000 })
      : ctx.fail('no such order');
  },
});
const correct = agent({
  name: 'correct',
  model: scriptedModel([{ text: 'The order is PO-71, not PO-17.' }]),
});
const approve = step({
  name: 'approve',
  execute: async (ctx) => {
    const { approved } = await ctx.ask('pay', { message: 'Pay 900 €?', approval: true });
    return ctx.complete(approved);
  },
});
const pay = step({ name: 'pay', execute: (ctx) => ctx.complete('paid') });
const reject = step({ name: 'reject', execute: (ctx) => ctx.complete('rejected') });

const triage = graph({
  name: 'invoice triage',
  nodes: { extract, lookUp, correct, approve, pay, reject },
  edges: [
    { from: 'extract', to: 'lookUp' },
    { from: 'lookUp', to: 'correct', error: 'step_failed', label: 'not found' },
    { from: 'correct', to: 'lookUp', max: 2 },
    { from: 'lookUp', to: 'approve', when: ({ cents }) => cents >= 50_000, label: 'from 500 €' },
    { from: 'lookUp', to: 'pay', otherwise: true },
    { from: 'approve', to: 'pay', when: (approved) => approved },
    { from: 'approve', to: 'reject', otherwise: true },
  ],
  start: 'extract',
});
const help = agent({
  name: 'help',
  description: 'Everything else',
  model: scriptedModel([{ text: 'Ask me about an invoice.' }]),
});
const desk = router({
  name: 'desk',
  routes: [triage, help],
  rules: [{ to: 'invoice triage', when: ['invoice', 'bill'] }],
  default: 'help',
});

console.log(graphMermaid(triage, { direction: 'LR' }));
// A worker does by itself what `resume` does here.
const app = runtime({ app: 'accounts', runnables: [desk], recover: 'manual' });
const waiting = await app.run(desk, 'Please pay this invoice of 90000 cents');
assert.equal(waiting.status, 'yielded');
const [question] = waiting.pendingCalls;
await app.requests.answer(question?.requestId ?? '', { decision: 'approve', by: 'user:ann' });
const result = await app.resume(waiting.session);
assert.deepEqual(result.output, { pay: 'paid' });

for (const { what, why } of explain(result.session)) console.log(`${what} ${why}`);
const [view] = graphViews(result.session);
const taken = view?.edges.filter((edge) => edge.taken > 0).map(({ from, to }) => `${from}>${to}`);
assert.deepEqual(taken, [
  'extract>lookUp',
  'lookUp>correct',
  'correct>lookUp',
  'lookUp>approve',
  'approve>pay',
]);
