import { checkedSeed } from '../../src/testing/simulation/checked-seed.ts';
import { usualRates } from '../../src/testing/simulation/faults.ts';
import {
  type SimulationFailure,
  shorterStory,
} from '../../src/testing/simulation/report/shorter-story.ts';
import type { SeedOptions, SeedOutcome } from '../../src/testing/simulation/simulate-seed.ts';
import type { Program } from './program.ts';
import { appOf, programsOf, runsOf } from './seed-programs.ts';
import { smallerPrograms } from './smaller-program.ts';

/** Most simulations that looking for smaller programs may take. */
const mostTries = 60;

/** What a seed of drawn programs came to. */
export interface ProgramsOutcome {
  readonly outcome: SeedOutcome;
  readonly compared: number;
  readonly comparedUsers: number;
  readonly programs: readonly Program[];
}

function optionsOf(
  seed: number,
  hours: number,
  { drawn, machines }: { readonly drawn: readonly Program[]; readonly machines: number },
): SeedOptions {
  return {
    seed,
    hours,
    machines,
    rates: usualRates,
    programs: runsOf(seed, drawn),
    makeApp: appOf(seed, drawn),
  };
}

/** Simulates the programs that a seed draws. */
export async function simulatePrograms(seed: number, hours: number): Promise<ProgramsOutcome> {
  const made = programsOf(seed);
  const { compared, ...checked } = await checkedSeed(optionsOf(seed, hours, made));
  return { ...checked, compared: compared.size, programs: made.drawn };
}

/** The smallest programs and the shortest list of faults that still break the same rule. */
export async function smallestFailure(
  { outcome, programs }: ProgramsOutcome,
  hours: number,
): Promise<{ readonly failure: SimulationFailure; readonly programs: readonly Program[] }> {
  const { seed } = outcome;
  const { machines } = programsOf(seed);
  const rule = outcome.broken[0]?.rule;
  let left = programs;
  let tries = 0;
  for (let isSmaller = true; isSmaller && tries < mostTries; ) {
    isSmaller = false;
    for (const candidate of fewerOrSmaller(left)) {
      if (++tries > mostTries) break;
      const { outcome: found } = await checkedSeed(
        optionsOf(seed, hours, { drawn: candidate, machines }),
      );
      if (!found.broken.some((one) => one.rule === rule)) continue;
      left = candidate;
      isSmaller = true;
      break;
    }
  }
  const options = optionsOf(seed, hours, { drawn: left, machines });
  const { outcome: last } = await checkedSeed(options);
  return { failure: await shorterStory(options, last), programs: left };
}

function fewerOrSmaller(programs: readonly Program[]): readonly (readonly Program[])[] {
  const fewer = programs.length > 1 ? programs.map((_, index) => programs.toSpliced(index, 1)) : [];
  const smaller = programs.flatMap((program, index) =>
    smallerPrograms(program).map((made) => programs.with(index, made)),
  );
  return [...fewer, ...smaller];
}
