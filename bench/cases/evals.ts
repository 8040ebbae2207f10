import { agent, memoryStore, type Runtime, runtime, tool } from 'adjutant';
import { type EvalCaseInput, evaluate, responseMatch, toolTrajectory } from 'adjutant/eval';
import { z } from 'zod';
import { instantModel, oneCall } from '../instant-model.ts';
import { elapsed, interleave } from '../measure.ts';
import { type Benchmark, ours, type Row, ratioOf } from '../row.ts';

const cases = 1_000;
/** Most time that a scored, recorded and reported case may take, in times of its run. */
const overhead = 2.5;

const add = tool({
  name: 'add',
  description: 'Adds',
  schema: z.object({ a: z.number(), b: z.number() }),
  readOnly: true,
  execute: ({ args }) => args.a + args.b,
});

function assistant() {
  return agent({ name: 'assistant', model: instantModel(oneCall), tools: [add] });
}

function app(): Runtime {
  return runtime({ app: 'eval', store: memoryStore(), recover: 'manual' });
}

const inputOf = (i: number): string => `Add up number ${i}`;

const dataset: readonly EvalCaseInput[] = Array.from({ length: cases }, (_, i) => ({
  id: `case ${i}`,
  input: inputOf(i),
  expect: { tools: [{ name: 'add' }], response: 'done' },
}));

async function plainRuns(): Promise<number> {
  const shop = app();
  const runnable = assistant();
  const ms = await elapsed(async () => {
    for (let i = 0; i < cases; i++)
      await shop.run(runnable, {
        input: inputOf(i),
        session: await shop.sessions.open({ id: `case ${i}` }),
      });
  });
  await shop.close();
  return ms / cases;
}

async function evaluated(): Promise<number> {
  const shop = app();
  const ms = await elapsed(async () => {
    const report = await evaluate({
      name: 'bench',
      dataset,
      variants: [{ name: 'current', app: shop, runnable: assistant() }],
      scorers: [toolTrajectory(), responseMatch()],
      concurrency: 1,
    });
    if (!report.passed || report.variants[0]?.summary.trials !== cases)
      throw new Error('The eval did not come out as it should.');
  });
  await shop.close();
  return ms / cases;
}

/** The cost of an eval beside the runs that it consists of. */
export const evals: Benchmark = {
  name: 'evals',
  async run({ quick }) {
    const plain = 'runs without an eval';
    const figures = await interleave(
      [
        { name: ours, measure: evaluated },
        { name: plain, measure: plainRuns },
      ],
      quick ? 3 : 10,
    );
    const row: Row = { work: `a case of an eval of ${cases}, instant model`, unit: 'ms', figures };
    return [row, ratioOf('a case of an eval against its run alone', figures, plain, overhead)];
  },
};
