import type { DurableContender } from '../contenders/durable-contender.ts';
import { elapsed, Figure, type Figures, interleave } from '../measure.ts';
import { type Benchmark, ours, type Row, type Settings, type Unit } from '../row.ts';
import { type OpenStore, openStores } from '../stores.ts';

/** That many are started at the same time. */
const atOnce = 50;
/**
 * Until everything has been compiled that ever is: code is hundreds of bytes for each of the first
 * runs, and nothing for later ones.
 */
const warmUpRuns = 4_000;
const runsOfPeers = 200;

interface Held {
  readonly heapKiB: number;
  readonly storedKiB: number;
}

/**
 * Runs that wait for an approval: what the process and the store hold for each, and what it takes
 * to go on with one of them.
 */
export const waitingRuns: Benchmark = {
  name: 'waiting-runs',
  notes: [
    'A waiting run has made one call of a tool that needs an approval, and nobody holds ' +
      'its session. Heap is what is left of it in the process that started it, after a full ' +
      'collection.',
    'Going on with it is giving the approval, opening the session in a runtime that has ' +
      'nothing of it, executing the call, and the last answer of the model.',
  ],
  async run(settings) {
    const rows: Row[] = [];
    for (const opened of await openStores(settings)) {
      await using open = opened;
      rows.push(...(await waitingOn(open, settings)));
    }
    return rows;
  },
};

async function waitingOn(
  { name, ours: own, peers }: OpenStore,
  { quick }: Settings,
): Promise<Row[]> {
  await startMany(own, quick ? warmUpRuns / 4 : warmUpRuns);
  const few = await hold(own, 1_000);
  const many = await hold(own, quick ? 2_000 : 10_000);
  const peer = peers[0];
  if (peer !== undefined) await startMany(peer, runsOfPeers);
  const ofPeer = peer === undefined ? undefined : await hold(peer, quick ? runsOfPeers : 1_000);
  const line = (work: string, unit: Unit, figures: Figures, limit: number): Row => ({
    work: `${work}, ${name}`,
    unit,
    figures,
    ceiling: { limit },
  });
  const figuresOf = (what: keyof Held, held: Held): Figures => {
    const values = [
      [ours, held],
      ...(peer === undefined || ofPeer === undefined ? [] : [[peer.name, ofPeer] as const]),
    ] as const;
    return new Map(values.map(([who, given]) => [who, new Figure([given[what]])]));
  };
  const resumed = await interleave(
    [own, ...peers].map((contender) => ({
      name: contender.name,
      measure: () => goOn(contender),
      every: contender === own ? 1 : 4,
    })),
    quick ? 12 : 60,
  );
  return [
    line('heap for one of 1,000 waiting runs', 'KiB', figuresOf('heapKiB', few), 0.1),
    line(
      `heap for one of ${quick ? '2,000' : '10,000'} waiting runs`,
      'KiB',
      figuresOf('heapKiB', many),
      0.1,
    ),
    line('stored for a waiting run', 'KiB', figuresOf('storedKiB', many), 3),
    line('go on with a waiting run', 'ms', resumed, 1),
  ];
}

const started = new Map<DurableContender, number>();

/** Numbered, so that nothing need be kept to find them again. */
async function startMany(contender: DurableContender, count: number): Promise<void> {
  let next = started.get(contender) ?? 0;
  const end = next + count;
  started.set(contender, end);
  const work = async (): Promise<void> => {
    while (next < end) await contender.wait(`waiting-${next++}`);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function hold(contender: DurableContender, count: number): Promise<Held> {
  const [heap, bytes] = [await heapAfterCollection(), await contender.bytes()];
  await startMany(contender, count);
  const perRun = (more: number): number => Math.max(0, more / count / 1_024);
  return {
    heapKiB: perRun((await heapAfterCollection()) - heap),
    storedKiB: perRun((await contender.bytes()) - bytes),
  };
}

/** Objects that are referred to weakly go only after the turn in which it was last used. */
async function heapAfterCollection(): Promise<number> {
  for (let times = 0; times < 4; times++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

const wentOn = new Map<DurableContender, number>();

async function goOn(contender: DurableContender): Promise<number> {
  const number = wentOn.get(contender) ?? 0;
  wentOn.set(contender, number + 1);
  return elapsed(await contender.approval(`waiting-${number}`));
}
