import { adjutant } from '../contenders/adjutant.ts';
import { aiSdk } from '../contenders/ai-sdk.ts';
import { bareLoop } from '../contenders/bare-loop.ts';
import { assertEqual, type Contender } from '../contenders/contender.ts';
import { langGraph } from '../contenders/langgraph.ts';
import { elapsed, interleave } from '../measure.ts';
import type { Benchmark } from '../row.ts';

const many = 2_000;
const few = 20;
const contenders = [bareLoop, adjutant, aiSdk, langGraph];

/** A streamed answer, read with `for await`. */
export const deltas: Benchmark = {
  name: 'deltas',
  async run({ quick }) {
    const subjects = (measure: (contender: Contender) => Promise<number>) =>
      contenders.map((contender) => ({
        name: contender.name,
        measure: () => measure(contender),
        every: contender === langGraph ? 4 : 1,
      }));
    return [
      {
        work: 'a delta of 2,000',
        unit: 'µs',
        figures: await interleave(subjects(oneDelta), quick ? 8 : 40),
        ceiling: { limit: 0.8 },
      },
      {
        work: 'the first delta, after the model’s',
        unit: 'ms',
        figures: await interleave(subjects(firstDelta), quick ? 8 : 40),
        ceiling: { limit: 0.1 },
      },
    ];
  },
};

async function oneDelta(contender: Contender): Promise<number> {
  const stream = contender.deltas(many);
  const ms = await elapsed(async () =>
    assertEqual((await stream()).received, many, `Deltas of ${contender.name}`),
  );
  return (ms * 1_000) / many;
}

async function firstDelta(contender: Contender): Promise<number> {
  return (await contender.deltas(few)()).firstAfterMs;
}
