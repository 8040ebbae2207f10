import { join } from 'node:path';
import type { Store } from 'adjutant';
import { BareCommit } from '../bare-commit.ts';
import { agentOfRounds } from '../contenders/adjutant.ts';
import { elapsed, Figure, interleave, type Subject } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';
import { type OpenStore, openSqlite } from '../stores.ts';
import { medianRound } from './rounds-in-memory.ts';

type Synchronous = 'full' | 'normal';

const limits: Readonly<Record<Synchronous, number>> = { full: 0.3, normal: 0.08 };
const lengths = [10, 100, 1_000];
/** Longest conversation of LangGraph.js, which writes more in each round as it grows. */
const longestOfPeers = 100;
const flatness = 1.1;

/**
 * One durable round with one tool call; its floor is a bare commit of as many rows in a worker
 * thread.
 */
export const roundsOnSqlite: Benchmark = {
  name: 'rounds-on-sqlite',
  notes: [
    'The floor on SQLite is a bare commit of the rows of one round by way of a worker thread.',
    'The AI SDK has no store. LangGraph.js comes with `durability: async`: it writes ' +
      'beside its next step, and does not wait for it.',
  ],
  async run(settings) {
    return [...(await roundsWith('full', settings)), ...(await roundsWith('normal', settings))];
  },
};

async function roundsWith(synchronous: Synchronous, settings: Settings): Promise<Row[]> {
  const { quick, folder } = settings;
  await using opened = await openSqlite(settings, synchronous);
  const { store, name } = opened;
  await using bare = new BareCommit(join(folder, `bare-${synchronous}.db`), synchronous);
  const figures = await interleave(
    [
      { name: 'bare loop', measure: () => commits(bare, 200) },
      ...lengths.map((rounds) => ({
        name: `${rounds}`,
        measure: () => conversations(store, rounds),
        every: rounds === 1_000 ? 2 : 1,
      })),
      ...lengths.flatMap((rounds) => (rounds > longestOfPeers ? [] : ofPeers(opened, rounds))),
    ],
    quick ? 4 : 12,
  );
  const ratios = await flatnessOnSqlite(store, quick ? 3 : 8);
  const rows = lengths.map(
    (rounds): Row => ({
      work: `a round on ${name}, ${rounds} rounds`,
      unit: 'ms',
      figures: new Map([
        ['bare loop', figures.get('bare loop') as Figure],
        [ours, figures.get(`${rounds}`) as Figure],
        ...opened.peers.flatMap((peer) => {
          const figure = figures.get(`${peer.name} ${rounds}`);
          return figure === undefined ? [] : [[peer.name, figure] as const];
        }),
      ]),
      ceiling: { limit: limits[synchronous] },
    }),
  );
  return [
    ...rows,
    {
      work: `round 1,000 against round 10, ${name}`,
      unit: '×',
      figures: new Map([[ours, ratios]]),
      ceiling: { limit: flatness, of: 'median' },
    },
  ];
}

let sessions = 0;

function ofPeers({ peers }: OpenStore, rounds: number): Subject[] {
  return peers.map((peer) => ({
    name: `${peer.name} ${rounds}`,
    measure: async () =>
      (await elapsed(() => peer.rounds(`rounds-${++sessions}`, rounds))) / rounds,
    every: 3,
  }));
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
