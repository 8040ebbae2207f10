import { Session } from 'node:inspector/promises';
import { agent, type Runnable, sequence, step, tool } from 'adjutant';
import { roundModel, simulate } from 'adjutant/testing';
import { Figure } from '../measure.ts';
import { type Benchmark, ours, type Row } from '../row.ts';

const machines = 10;
const sessions = 100;
const hours = 10;
const hourMs = 3_600_000;
/** Simulated time against processor time: that of all three runs of a seed. */
const leastSpeed = 1_000;

const open = { type: 'object' } as const;

/** Simulating an app, in an hour of which many processes serve many sessions under faults. */
export const simulator: Benchmark = {
  name: 'simulator',
  notes: [
    'The simulator: each seed is run three times (twice with faults, once without), and the time ' +
      'of all three counts. Shares are of samples, one for each millisecond.',
  ],
  async run({ quick }) {
    const speeds: number[] = [];
    for (let seed = 1; seed <= (quick ? 2 : 6); seed++) {
      const before = process.cpuUsage();
      const simulated = await simulateSeed(seed);
      const { system, user } = process.cpuUsage(before);
      speeds.push((simulated * hourMs) / ((system + user) / 1_000));
    }
    const speed: Row = {
      work: `time of ${machines} processes and ${sessions} sessions against processor time`,
      unit: '×',
      figures: new Map([[ours, new Figure(speeds)]]),
      ceiling: { limit: leastSpeed, at: 'least', of: 'median' },
    };
    return [speed, ...(await shares())];
  },
};

/** Simulates one seed, and returns its simulated hours. */
async function simulateSeed(seed: number): Promise<number> {
  const report = await simulate(makeApp, {
    seed,
    machines,
    hours,
    hoursPerSeed: hours,
    programs: Array.from({ length: sessions }, (_, index) => ({
      run: index % 2 === 0 ? 'clerk' : 'office',
      input: `Bill ${index}`,
      user: `user${index % 20}`,
    })),
  });
  const [failure] = report.failures;
  if (failure !== undefined)
    throw new Error(`Seed ${seed} broke a rule: ${JSON.stringify(failure.broken)}`);
  return report.hours;
}

/** An agent with tools of all kinds, and a sequence with bodies that run beside each other. */
function makeApp(): { readonly app: string; readonly runnables: readonly Runnable[] } {
  const tools = [
    tool({
      name: 'look_up',
      description: 'Looks a bill up',
      schema: open,
      readOnly: true,
      execute: () => 'There is a bill.',
    }),
    tool({
      name: 'pay',
      description: 'Pays a bill',
      schema: open,
      approval: true,
      execute: () => 'paid',
    }),
    tool({
      name: 'note',
      description: 'Notes a payment',
      schema: open,
      recovery: 'rerun',
      execute: ({ state }) => {
        state.update('notes', (notes) => Number(notes ?? 0) + 1);
        return 'noted';
      },
    }),
  ];
  const rounds = [
    { toolCalls: [{ name: 'look_up', args: {} }] },
    {
      toolCalls: [
        { name: 'pay', args: {} },
        { name: 'note', args: {} },
      ],
    },
    { text: 'The bill is paid.' },
  ];
  const clerk = agent({ name: 'clerk', model: roundModel(rounds), tools });
  const prepare = step({
    name: 'prepare',
    execute: async (ctx) => {
      const amounts = ['first', 'second', 'third'].map(async (key) => {
        ctx.state[key] = await ctx.effect(key, () => 1);
      });
      await Promise.all(amounts);
    },
  });
  const office = sequence({ name: 'office', runnables: [prepare, clerk] });
  return { app: 'bills', runnables: [clerk, office] };
}

/** Parts of the code by the paths of its files, the first that matches. */
const parts: readonly (readonly [name: string, path: RegExp])[] = [
  ['the simulation: time, faults, network, rules', /src\/testing\/simulation\//],
  ['the store', /src\/stores\//],
  ['the ledger', /src\/ledger\//],
  ['the engine and everything else of the runtime', /packages\/core\/src\//],
  ['the collector of memory', /^\(garbage collector\)$/],
];
const rest = 'Node itself';

/** Shares of the samples of one seed, by the part of the code that was running. */
async function shares(): Promise<readonly Row[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 1_000 });
    await session.post('Profiler.start');
    await simulateSeed(1);
    const { profile } = await session.post('Profiler.stop');
    const counts = new Map<string, number>(
      [...parts.map(([name]) => name), rest].map((name) => [name, 0]),
    );
    let all = 0;
    for (const { callFrame, hitCount = 0 } of profile.nodes) {
      const { functionName, url } = callFrame;
      if (functionName === '(idle)' || functionName === '(program)') continue;
      const part =
        parts.find(([, path]) => path.test(url === '' ? functionName : url))?.[0] ?? rest;
      counts.set(part, (counts.get(part) ?? 0) + hitCount);
      all += hitCount;
    }
    return [...counts].map(([name, count]) => ({
      work: `of it, in ${name}`,
      unit: '%' as const,
      figures: new Map([[ours, new Figure([(100 * count) / all])]]),
    }));
  } finally {
    session.disconnect();
  }
}
