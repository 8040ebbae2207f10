/** An ordinary program of compositions, for what it costs the editor of its author. */
import { agent, loop, parallel, runtime, sequence, step } from 'adjutant';
import { z } from 'zod';

const model = 'openai:gpt-5-mini';
const triage = agent({ name: 'triage', model, handoffs: [() => billing, () => support] });
const billing = agent({
  name: 'billing',
  model,
  handoffs: [{ to: () => triage, back: true }],
});
const support = agent({ name: 'support', model, handoffs: [() => triage] });

const search = agent({ name: 'search', model, output: z.object({ pages: z.array(z.string()) }) });
const prices = step({ name: 'prices', execute: (ctx) => ctx.complete({ cents: [1, 2, 3] }) });
const facts = parallel({ name: 'facts', runnables: [search, prices] });
const write = step({
  name: 'write',
  execute: async (ctx) => {
    const { approved } = await ctx.ask('write', { message: 'Write it?', approval: true });
    await ctx.sleep('a moment', 1_000);
    return approved ? ctx.complete({ text: ctx.message ?? '', cents: 6 }) : ctx.fail('not wanted');
  },
});
const report = sequence({ name: 'report', runnables: [facts, write] });
const rounds = loop({ name: 'rounds', runnable: report, maxIterations: 3 });

const app = runtime({ app: 'shop', runnables: [triage, rounds] });

export async function reported(): Promise<string> {
  let result = await app.run(report, { input: 'Go' });
  const { runId } = result;
  while (result.status === 'yielded') result = await app.resume(report, result.session, { runId });
  return result.output?.text.toUpperCase() ?? '';
}

export async function asked(): Promise<string> {
  const { output } = await app.run(facts, { input: 'Go' });
  return [...(output?.search.pages ?? []), output?.prices.cents.join(', ') ?? ''].join('\n');
}
