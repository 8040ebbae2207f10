import { ours, type Row, type Settings } from '../../row.ts';
import { type Paired, paired } from '../../server/paired.ts';
import type { Plan } from '../../server/plan.ts';
import { HostProcess, ReaderProcess } from '../../server/processes.ts';
import { type Followed, follow } from '../../server/talk.ts';

const bare = 'bare loop';
const eventsPerRound = 5;

interface Case {
  readonly count: number;
  readonly deltas: number;
  readonly rounds: number;
  /** Most time of a delta, and of a durable event, in times of one that is passed on by hand. */
  readonly limits: readonly [deltas: number, events: number];
}

const cases: readonly Case[] = [
  { count: 1, deltas: 4_000, rounds: 100, limits: [4, 8] },
  { count: 100, deltas: 400, rounds: 40, limits: [2.5, 4] },
  { count: 1_000, deltas: 40, rounds: 8, limits: [2.5, 4] },
];

/** Time until the events of one session are with all of its followers. */
export async function followers({ quick }: Settings): Promise<readonly Row[]> {
  await using own = await HostProcess.start({ kind: 'adjutant', store: { kind: 'memory' } });
  await using floor = await HostProcess.start({ kind: 'bare' });
  await using reader = await ReaderProcess.start();
  const rows: Row[] = [];
  for (const { count, deltas, rounds, limits } of cases) {
    const measured = (plan: Plan): Promise<Paired<Followed>> =>
      paired(
        [
          { name: bare, measure: () => follow(floor, reader, { count, plan }) },
          { name: ours, measure: () => follow(own, reader, { count, plan }) },
        ],
        quick ? 3 : 8,
      );
    rows.push(...deltaRows(await measured({ deltas }), { count, deltas, limit: limits[0] }));
    rows.push(...eventRows(await measured({ rounds }), { count, rounds, limit: limits[1] }));
  }
  return rows;
}

function deltaRows(
  figures: Paired<Followed>,
  { count, deltas, limit }: { count: number; deltas: number; limit: number },
): Row[] {
  const to = followersText(count);
  return [
    figures.row(
      `deltas to ${to}, as fast as they come`,
      'events/s',
      ({ ms }) => (count * deltas * 1_000) / ms,
    ),
    figures.row(
      `deltas in a frame, ${to}`,
      '×',
      ({ deltas: all, deltaFrames }) => all / deltaFrames,
    ),
    figures.row(`bytes of a delta, ${to}`, 'B', ({ bytes, deltas: all }) => bytes / all),
    figures.against(`a delta to ${to} against one passed on by hand`, ({ ms }) => ms, {
      other: bare,
      limit,
    }),
  ];
}

/** Both send about as many events of about the same size; frames are what is counted. */
function eventRows(
  figures: Paired<Followed>,
  { count, rounds, limit }: { count: number; rounds: number; limit: number },
): Row[] {
  const to = followersText(count);
  const work = `durable events to ${to}, ${rounds * eventsPerRound} of a run`;
  return [
    figures.row(work, 'events/s', ({ frames, ms }) => (frames * 1_000) / ms),
    figures.against(
      `a durable event to ${to} against one passed on by hand`,
      ({ ms, frames }) => ms / frames,
      { other: bare, limit },
    ),
  ];
}

function followersText(count: number): string {
  return count === 1 ? '1 follower' : `${count.toLocaleString('en-US')} followers`;
}
