import { adjutant, agentOfRounds } from '../contenders/adjutant.ts';
import { aiSdk } from '../contenders/ai-sdk.ts';
import { bareLoop } from '../contenders/bare-loop.ts';
import type { Contender } from '../contenders/contender.ts';
import { langGraph } from '../contenders/langgraph.ts';
import { elapsed, Figure, interleave, median } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';

const msPerRound = 0.02;
const flatness = 1.1;
/** Rounds around the 10th and the 1,000th that are compared. */
const early = [5, 25] as const;
const late = [980, 1_000] as const;

/** One round with one tool call, by the length of the conversation. */
export const roundsInMemory: Benchmark = {
  name: 'rounds-in-memory',
  async run(settings) {
    const rows: Row[] = [];
    for (const rounds of [10, 100, 1_000]) rows.push(await roundsOfLength(rounds, settings));
    rows.push(await flatnessOfRounds(settings));
    return rows;
  },
};

async function roundsOfLength(rounds: number, { quick }: Settings): Promise<Row> {
  // Short conversations are timed many at a time: a clock tick and the start of a run must not
  // count.
  const conversations = Math.ceil(200 / rounds);
  const measure = (contender: Contender, times: number) => async (): Promise<number> => {
    const prepared = Array.from({ length: times }, () => contender.rounds(rounds, 1));
    const ms = await elapsed(async () => {
      for (const run of prepared) await run();
    });
    return ms / times / rounds;
  };
  const isLong = rounds >= 1_000;
  const figures = await interleave(
    [
      { name: bareLoop.name, measure: measure(bareLoop, conversations) },
      { name: adjutant.name, measure: measure(adjutant, conversations) },
      {
        name: aiSdk.name,
        measure: measure(aiSdk, Math.ceil(conversations / 4)),
        every: isLong ? 6 : 3,
      },
      {
        name: langGraph.name,
        measure: measure(langGraph, Math.ceil(conversations / 4)),
        every: isLong ? 12 : 3,
      },
    ],
    quick ? 6 : 24,
  );
  return {
    work: `a round in memory, ${rounds} rounds`,
    unit: 'ms',
    figures,
    ceiling: { limit: msPerRound },
  };
}

/**
 * Rounds of one conversation, from one model call to the next; what a single pause makes slow does
 * not change the median.
 */
async function flatnessOfRounds({ quick }: Settings): Promise<Row> {
  const ratios: number[] = [];
  for (let repetition = quick ? 6 : 20; repetition > 0; repetition--) {
    const { model, run } = agentOfRounds(1_000, 1, { keepTimes: true });
    await run();
    ratios.push(medianRound(model.calledAt, late) / medianRound(model.calledAt, early));
  }
  const figures = new Map([[ours, new Figure(ratios)]]);
  return {
    work: 'round 1,000 against round 10, in memory',
    unit: '×',
    figures,
    ceiling: { limit: flatness, of: 'median' },
  };
}

export function medianRound(
  calledAt: readonly number[],
  [from, to]: readonly [number, number],
): number {
  const rounds: number[] = [];
  for (let i = from; i < to; i++)
    rounds.push((calledAt[i + 1] as number) - (calledAt[i] as number));
  return median(rounds);
}
