import { agentOfRounds } from '../contenders/adjutant.ts';
import { elapsed, interleave } from '../measure.ts';
import { type Benchmark, ours, type Row, ratioOf } from '../row.ts';

const rounds = 200;
const conversations = 4;
/** Most time of a supervised round, in times of one without, when all calls go well. */
const overhead = 1.1;

/**
 * The cost of supervision when there is nothing to do: the same conversations with it and without
 * it.
 */
export const supervision: Benchmark = {
  name: 'supervision',
  async run({ quick }) {
    const measure = (options: { readonly supervision?: false }) => async (): Promise<number> => {
      const prepared = Array.from({ length: conversations }, () =>
        agentOfRounds(rounds, 1, options),
      );
      const ms = await elapsed(async () => {
        for (const { run } of prepared) await run();
      });
      return ms / conversations / rounds;
    };
    const without = 'without supervision';
    const figures = await interleave(
      [
        { name: ours, measure: measure({}) },
        { name: without, measure: measure({ supervision: false }) },
      ],
      quick ? 10 : 40,
    );
    const row: Row = { work: `a round in memory, ${rounds} rounds`, unit: 'ms', figures };
    return [
      row,
      ratioOf('a round with supervision against one without', figures, without, overhead),
    ];
  },
};
