import { expect, test } from 'vitest';
import { agent, step, tool } from '../../../src/index.ts';
import { roundModel } from '../../../src/testing/kit/round-model.ts';
import { Draws } from '../../../src/testing/simulation/draws.ts';
import { type FaultKind, FaultPlan } from '../../../src/testing/simulation/faults.ts';
import type { MakeApp } from '../../../src/testing/simulation/machine-room.ts';
import { type SeedOutcome, simulateSeed } from '../../../src/testing/simulation/simulate-seed.ts';

/** A rate at which a fault happens wherever the plan allows it. */
const always = 10;
type Recovery = 'report' | 'rerun';

/** An app with an agent that pays, and a step that pays as an effect. */
function payingApp(recovery: Recovery): MakeApp {
  return () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays a bill',
      schema: { type: 'object' },
      execute: () => 'paid',
    });
    const clerk = agent({
      name: 'clerk',
      model: roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]),
      tools: [pay],
    });
    const work = step({
      name: 'work',
      execute: async (ctx) => ctx.complete(await ctx.effect('pay', () => 'paid', { recovery })),
    });
    return { app: 'bills', runnables: [clerk, work] };
  };
}

/** Simulates a run with one fault, in the first seed that has it at its place. */
async function withFault(
  run: string,
  {
    kind,
    place,
    recovery = 'report',
    draws,
  }: {
    readonly kind: FaultKind;
    readonly place: string;
    readonly recovery?: Recovery;
    /** Draws that the seed must have. */
    readonly draws?: (draws: Draws) => boolean;
  },
): Promise<SeedOutcome> {
  const rates = { [kind]: always };
  for (let seed = 1; ; seed++) {
    const drawn = new Draws(seed);
    if (!new FaultPlan(drawn, { rates }).has(kind) || draws?.(drawn) === false) continue;
    const outcome = await simulateSeed({
      seed,
      hours: 1,
      machines: 1,
      rates,
      programs: [{ run, input: 'Pay bill 17.' }],
      makeApp: payingApp(recovery),
      onlyFaults: new Set([`${kind}@${place}`]),
      keepsStory: true,
    });
    expect(outcome.faults).toEqual([`${kind}@${place}`]);
    expect(outcome.broken).toEqual([]);
    return outcome;
  }
}

test('a model answers, its process is killed, and the model is asked again', async () => {
  const { ends, story } = await withFault('clerk', { kind: 'stop', place: 'p1/model#1 after' });
  expect(ends[0]).toMatchObject({ status: 'completed', output: 'Paid.' });
  expect(
    story.filter((line) => / p1\/model#\d /.test(line) && line.includes('round 1')),
  ).toHaveLength(2);
});

test('a model answers, its answer is lost, and the model is asked again', async () => {
  const place = 'p1/model#1 answer';
  const { ends, story } = await withFault('clerk', { kind: 'modelError', place });
  expect(ends[0]).toMatchObject({ status: 'completed', output: 'Paid.' });
  expect(story.join('\n')).toMatch(/p1\/model#1 has answered, and the answer is lost/);
});

test.each([
  ['report', 'before', 'error'],
  ['report', 'after', 'error'],
  ['rerun', 'before', 'completed'],
  ['rerun', 'after', 'completed'],
] as const)(
  'a process is killed in an effect with %s, %s it acts: %s',
  async (recovery, when, status) => {
    const place = `p1/effect run0/pay#1 ${when}`;
    const { ends } = await withFault('work', { kind: 'stop', place, recovery });
    expect(ends[0]).toMatchObject({ status });
  },
);

test.each([
  ['report', 'error'],
  ['rerun', 'error'],
] as const)('an effect with %s acts and fails: %s', async (recovery, status) => {
  const place = 'p1/effect run0/pay#1';
  const { ends, ledgers } = await withFault('work', {
    kind: 'toolError',
    place,
    recovery,
    draws: (draws) => draws.at(`${place} acts`) >= 0.5,
  });
  expect(ends[0]).toMatchObject({ status });
  expect(ledgers.flat().filter(({ type }) => type === 'tool_result')).toMatchObject([
    { effect: 'unknown' },
  ]);
});

test('an effect that does not heed the end of its time is settled then', async () => {
  const place = 'p1/effect run0/pay#1';
  const { ends, ledgers } = await withFault('work', {
    kind: 'slowTool',
    place,
    draws: (draws) => draws.at(`${place} heeds`) >= 0.5 && draws.at(`${place} after`) > 0.5,
  });
  expect(ends[0]).toMatchObject({ status: 'error' });
  expect(ledgers.flat().filter(({ type }) => type === 'tool_result')).toMatchObject([
    { effect: 'unknown', settled: true },
  ]);
});
