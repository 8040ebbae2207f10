import { join } from 'node:path';
import { sqlite } from 'adjutant/sqlite';
import { agentOfRounds } from '../contenders/adjutant.ts';
import { elapsed, Figure } from '../measure.ts';
import { type Benchmark, ours } from '../row.ts';

const runs = 100;
const rounds = 50;

/** Runs that are under way at once in one process share the commits of their rounds. */
export const manyRuns: Benchmark = {
  name: 'many-runs',
  async run({ quick, folder }) {
    const store = sqlite(join(folder, 'many-runs.db'));
    const rates: number[] = [];
    for (let repetition = quick ? 4 : 10; repetition > 0; repetition--) {
      const prepared = Array.from({ length: runs }, () => agentOfRounds(rounds, 1, { store }));
      const ms = await elapsed(() => Promise.all(prepared.map(({ run }) => run())));
      rates.push((runs * rounds * 1_000) / ms);
    }
    await store.close();
    const figures = new Map([[ours, new Figure(rates)]]);
    return [
      {
        work: 'durable rounds, 100 runs at once on SQLite FULL',
        unit: 'rounds/s',
        figures,
        ceiling: { limit: 15_000, at: 'least' },
      },
    ];
  },
};
