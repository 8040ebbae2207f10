import { runtime } from 'adjutant';
import { type RecordedLedger, recordedLedgerOf, replay } from 'adjutant/replay';
import { agentOfRounds } from '../contenders/adjutant.ts';
import { assertEqual } from '../contenders/contender.ts';
import { elapsed, Figure, interleave } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';

/** The least that is allowed, on an idle machine it does four times as many. */
const eventsPerSecond = 20_000;
/** Most time that a replay may take, in times of the run. */
const mostTimes = 4;
const wholeRun = 'the run itself';

/**
 * Speed of replays that compare prompts, against the speed of the recorded runs.
 */
export const replaying: Benchmark = {
  name: 'replay',
  notes: [
    'replay: the run itself is the same conversation in memory, on a model and a tool that ' +
      'answer at once.',
  ],
  run: async (settings) => [...(await replayOf(20, settings)), ...(await replayOf(200, settings))],
};

async function replayOf(rounds: number, { quick }: Settings): Promise<readonly Row[]> {
  const conversations = Math.ceil(200 / rounds);
  const record = await recordOf(rounds);
  const events = record.events.length;
  const perSecond = (ms: number): number => (events * conversations * 1_000) / ms;
  const figures = await interleave(
    [
      {
        name: ours,
        measure: async () =>
          perSecond(await elapsed(() => repeated(conversations, () => replayOnce(record, rounds)))),
      },
      {
        name: wholeRun,
        measure: async () =>
          perSecond(
            await elapsed(() => repeated(conversations, () => agentOfRounds(rounds, 1).run())),
          ),
      },
    ],
    quick ? 4 : 12,
  );
  const [replays, runs] = [figures.get(ours)?.values ?? [], figures.get(wholeRun)?.median ?? 0];
  return [
    {
      work: `replay of ${events} events`,
      unit: 'events/s',
      figures,
      ceiling: { limit: eventsPerSecond, at: 'least' },
    },
    {
      work: `replay against the run, ${events} events`,
      unit: '×',
      figures: new Map([[ours, new Figure(replays.map((value) => runs / value))]]),
      ceiling: { limit: mostTimes, of: 'median' },
    },
  ];
}

async function repeated(times: number, work: () => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time++) await work();
}

async function recordOf(rounds: number): Promise<RecordedLedger> {
  const { app, run } = agentOfRounds(rounds, 1);
  await run('recorded');
  return recordedLedgerOf(await app.sessions.open({ id: 'recorded' }));
}

async function replayOnce(record: RecordedLedger, rounds: number): Promise<void> {
  const { agent } = agentOfRounds(rounds, 1);
  const report = await replay(
    record,
    runtime({ app: 'bench', recover: 'manual', runnables: [agent] }),
  );
  assertEqual(report.divergence?.subject ?? 'none', 'none', 'Divergences of a replay');
  assertEqual(report.events, record.events.length, 'Events of a replay');
}
