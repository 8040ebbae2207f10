import type { DurableContender } from '../contenders/durable-contender.ts';
import { Figure } from '../measure.ts';
import type { Benchmark, Row } from '../row.ts';
import { type OpenStore, openStores } from '../stores.ts';

/** Rounds of a run, and how many such runs are stored. */
const lengths = [
  [20, 10],
  [200, 2],
] as const;
const kibPerRound = 0.8;

/** Bytes of a run in its store for each of its rounds, by its length. */
export const bytesByLength: Benchmark = {
  name: 'bytes-by-length',
  notes: [
    'Stored for a round: the growth of the files, or of the tables with their indexes, ' +
      'over whole runs; in PostgreSQL also what updates leave for its vacuum.',
  ],
  async run(settings) {
    const rows: Row[] = [];
    for (const opened of await openStores(settings)) {
      await using open = opened;
      for (const [rounds, runs] of lengths)
        rows.push(await bytesOf(open, rounds, settings.quick ? 1 : runs));
    }
    return rows;
  },
};

async function bytesOf(
  { name, ours, peers }: OpenStore,
  rounds: number,
  runs: number,
): Promise<Row> {
  const figures = new Map<string, Figure>();
  for (const contender of [ours, ...peers])
    figures.set(contender.name, new Figure([await growth(contender, rounds, runs)]));
  return {
    work: `stored for a round of ${rounds}, ${name}`,
    unit: 'KiB',
    figures,
    ...(rounds >= 200 ? { ceiling: { limit: kibPerRound } } : {}),
  };
}

let sessions = 0;

async function growth(contender: DurableContender, rounds: number, runs: number): Promise<number> {
  // Tables come into being with the first use.
  await contender.rounds(`bytes-${++sessions}`, 1);
  const before = await contender.bytes();
  for (let run = 0; run < runs; run++) await contender.rounds(`bytes-${++sessions}`, rounds);
  return ((await contender.bytes()) - before) / (rounds * runs) / 1_024;
}
