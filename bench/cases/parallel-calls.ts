import { adjutant } from '../contenders/adjutant.ts';
import { aiSdk } from '../contenders/ai-sdk.ts';
import { bareLoop } from '../contenders/bare-loop.ts';
import { langGraph } from '../contenders/langgraph.ts';
import { difference, elapsed, type Figure, type Figures, interleave } from '../measure.ts';
import type { Benchmark } from '../row.ts';

const rounds = 100;
const most = 8;

/** The cost of one more call in a round: rounds of eight calls against rounds of one. */
export const parallelCalls: Benchmark = {
  name: 'parallel-calls',
  async run({ quick }) {
    const contenders = [bareLoop, adjutant, aiSdk, langGraph];
    const subjects = contenders.flatMap((contender) =>
      [1, most].map((calls) => ({
        name: `${contender.name} ${calls}`,
        measure: () => elapsed(contender.rounds(rounds, calls)),
        every: contender === bareLoop || contender === adjutant ? 1 : 3,
      })),
    );
    const measured = await interleave(subjects, quick ? 6 : 24);
    const figures = new Map(contenders.map(({ name }) => [name, oneMoreCall(measured, name)]));
    return [{ work: 'one of 8 parallel tool calls', unit: 'µs', figures, ceiling: { limit: 5 } }];
  },
};

function oneMoreCall(measured: Figures, name: string): Figure {
  const perCall = 1_000 / rounds / (most - 1);
  return difference(
    measured.get(`${name} ${most}`) as Figure,
    measured.get(`${name} 1`) as Figure,
    perCall,
  );
}
