import { elapsed, interleave, type Subject } from '../measure.ts';
import type { Benchmark, Row, Settings } from '../row.ts';
import { type OpenStore, openStores } from '../stores.ts';

const lengths = [10, 1_000, 10_000];
/** By rounds. */
const limits: Readonly<Record<number, number>> = { 1000: 6 };

/**
 * Sessions of which the process has nothing in memory are opened, get one more message, and answer
 * it.
 */
export const resumeSessions: Benchmark = {
  name: 'resume-sessions',
  notes: [
    'Sessions that LangGraph.js resumes were stored with one checkpoint, as the last of a ' +
      'run of that length holds everything.',
  ],
  async run(settings) {
    const rows: Row[] = [];
    for (const opened of await openStores(settings)) {
      await using open = opened;
      for (const rounds of lengths) rows.push(await resumeOf(open, rounds, settings));
    }
    return rows;
  },
};

async function resumeOf(
  { name, ours, peers }: OpenStore,
  rounds: number,
  { quick }: Settings,
): Promise<Row> {
  const session = `rounds-${rounds}`;
  const subjects: Subject[] = [];
  for (const contender of [ours, ...peers]) {
    await contender.storeRounds(session, rounds);
    const isPeer = contender !== ours;
    subjects.push({
      name: contender.name,
      measure: () => elapsed(() => contender.oneMore(session)),
      every: isPeer && rounds > 10 ? 4 : 1,
    });
  }
  const figures = await interleave(subjects, rounds >= 10_000 ? 4 : quick ? 8 : 24);
  const work = `resume ${rounds.toLocaleString('en-US')} rounds and take one step, ${name}`;
  const limit = limits[rounds];
  return { work, unit: 'ms', figures, ...(limit === undefined ? {} : { ceiling: { limit } }) };
}
