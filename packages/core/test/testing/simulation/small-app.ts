import { agent, tool } from '../../../src/index.ts';
import { roundModel } from '../../../src/testing/kit/round-model.ts';
import type { FaultRates } from '../../../src/testing/simulation/faults.ts';
import type { MakeApp, SimulatedApp } from '../../../src/testing/simulation/machine-room.ts';
import type { SeedOptions } from '../../../src/testing/simulation/simulate-seed.ts';

/** Tool `pay` of an app: `execute` is what it does. */
export function clerkApp(execute: () => unknown = () => 'paid'): SimulatedApp {
  const pay = tool({
    name: 'pay',
    description: 'Pays a bill',
    schema: { type: 'object' },
    execute: async () => execute() as string,
  });
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  return { app: 'bills', runnables: [clerk] };
}

/** One program of one app on one machine, for an hour. */
export function oneRun(rates: FaultRates, makeApp: MakeApp = () => clerkApp()): SeedOptions {
  return {
    seed: 1,
    hours: 1,
    machines: 1,
    rates,
    programs: [{ run: 'clerk', input: 'Pay bill 17.' }],
    makeApp,
  };
}
