import { join } from 'node:path';
import { sqlite } from 'adjutant/sqlite';
import { BareCommit } from '../bare-commit.ts';
import { agentOfRounds } from '../contenders/adjutant.ts';
import { elapsed, Figure, interleave } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';
import { medianRound } from './rounds-in-memory.ts';

type Synchronous = 'full' | 'normal';
type Store = ReturnType<typeof sqlite>;

const limits: Readonly<Record<Synchronous, number>> = { full: 0.3, normal: 0.08 };
const lengths = [10, 100, 1_000];
const flatness = 1.1;

/** One durable round with one tool call; its floor is a bare commit of as many rows in a worker thread. */
export const roundsOnSqlite: Benchmark = {
  name: 'rounds-on-sqlite',
  notes: [
    'The floor on SQLite is a bare commit of the rows of one round by way of a worker thread.',
    'The AI SDK has no store. The one of LangGraph.js (@langchain/langgraph-checkpoint-sqlite) needs better-sqlite3, whose native build cannot be fetched here.',
  ],
  async run(settings) {
    return [...(await roundsWith('full', settings)), ...(await roundsWith('normal', settings))];
  },
};

async function roundsWith(synchronous: Synchronous, { quick, folder }: Settings): Promise<Row[]> {
  const store = sqlite(join(folder, `rounds-${synchronous}.db`), { synchronous });
  await using bare = new BareCommit(join(folder, `bare-${synchronous}.db`), synchronous);
  const figures = await interleave(
    [
      { name: 'bare loop', measure: () => commits(bare, 200) },
      ...lengths.map((rounds) => ({ name: `${rounds}`, measure: () => conversations(store, rounds), every: rounds === 1_000 ? 2 : 1 })),
    ],
    quick ? 4 : 12,
  );
  const ratios = await flatnessOnSqlite(store, quick ? 3 : 8);
  await store.close();
  const name = `SQLite ${synchronous.toUpperCase()}`;
  const rows = lengths.map(
    (rounds): Row => ({
      work: `a round on ${name}, ${rounds} rounds`,
      unit: 'ms',
      figures: new Map([
        ['bare loop', figures.get('bare loop') as Figure],
        [ours, figures.get(`${rounds}`) as Figure],
      ]),
      ceiling: { limit: limits[synchronous] },
    }),
  );
  return [
    ...rows,
    { work: `round 1,000 against round 10, ${name}`, unit: '×', figures: new Map([[ours, ratios]]), ceiling: { limit: flatness, of: 'median' } },
  ];
}

async function commits(bare: BareCommit, count: number): Promise<number> {
  const ms = await elapsed(async () => {
    for (let i = 0; i < count; i++) await bare.round();
  });
  return ms / count;
}

async function conversations(store: Store, rounds: number): Promise<number> {
  const times = Math.ceil(100 / rounds);
  const prepared = Array.from({ length: times }, () => agentOfRounds(rounds, 1, { store }));
  const ms = await elapsed(async () => {
    for (const { run } of prepared) await run();
  });
  return ms / times / rounds;
}

async function flatnessOnSqlite(store: Store, repetitions: number): Promise<Figure> {
  const ratios: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const { model, run } = agentOfRounds(1_000, 1, { store, keepTimes: true });
    await run();
    ratios.push(medianRound(model.calledAt, [950, 1_000]) / medianRound(model.calledAt, [5, 55]));
  }
  return new Figure(ratios);
}
