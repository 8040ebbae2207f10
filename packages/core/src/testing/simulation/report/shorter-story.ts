import { checkedSeed, rulesOfComparison } from '../checked-seed.ts';
import { type SeedOptions, type SeedOutcome, simulateSeed } from '../simulate-seed.ts';
import type { SimulatedProgram } from '../simulated-program.ts';
import type { BrokenRule } from '../watched-ledger.ts';
import type { SimulationRule } from './simulation-rules.ts';

/** A seed in which a rule did not hold, made as short as it could be. */
export interface SimulationFailure {
  readonly seed: number;
  readonly broken: readonly BrokenRule[];
  /** Programs that are needed for it. */
  readonly programs: readonly SimulatedProgram[];
  /** Faults that are needed for it, in order. */
  readonly faults: readonly string[];
  /** The story, one line for each call of a port. */
  readonly story: readonly string[];
}

/** Most simulations that looking for a shorter story may take. */
const mostTries = 150;

/**
 * Makes the story of a failed seed shorter: programs and faults are left out as long as the same
 * rule is still broken. Draws depend on their places alone, so that what is left stays as it was.
 */
export async function shorterStory(
  given: SeedOptions,
  outcome: SeedOutcome,
): Promise<SimulationFailure> {
  const [first] = outcome.broken;
  const search = new Search(given, first?.rule);
  const programs = await search.fewer(
    given.programs.map((_, index) => index),
    (kept) => ({ kept, faults: undefined }),
  );
  const faults = await search.fewer(outcome.faults, (only) => ({ kept: programs, faults: only }));
  const last = await search.run({
    ...search.options({ kept: programs, faults }),
    keepsStory: true,
  });
  const isSame = last.broken.some(({ rule }) => rule === first?.rule);
  const shown = isSame ? last : await simulateSeed({ ...given, keepsStory: true });
  return {
    seed: given.seed,
    broken: isSame ? last.broken : outcome.broken,
    programs: isSame ? pick(given.programs, programs) : given.programs,
    faults: shown.faults,
    story: shown.story,
  };
}

/** Places of the programs that are asked for, and the faults that may happen. */
interface Part {
  readonly kept: readonly number[];
  readonly faults: readonly string[] | undefined;
}

class Search {
  readonly #given: SeedOptions;
  readonly #rule: SimulationRule | undefined;
  #tries = 0;

  constructor(given: SeedOptions, rule: SimulationRule | undefined) {
    this.#given = given;
    this.#rule = rule;
  }

  options({ kept, faults }: Part): SeedOptions {
    return {
      ...this.#given,
      onlyPrograms: new Set(kept),
      ...(faults === undefined ? {} : { onlyFaults: new Set(faults) }),
    };
  }

  /** Simulates a part, as often as the rule needs it. */
  async run(options: SeedOptions): Promise<SeedOutcome> {
    return this.#rule !== undefined && rulesOfComparison.has(this.#rule)
      ? (await checkedSeed(options)).outcome
      : simulateSeed(options);
  }

  /** Leaves out halves, quarters and so on of a list, as long as the rule stays broken. */
  async fewer<Item>(
    items: readonly Item[],
    partOf: (kept: readonly Item[]) => Part,
  ): Promise<readonly Item[]> {
    let left = items;
    for (let size = Math.ceil(left.length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < left.length; ) {
        const without = [...left.slice(0, from), ...left.slice(from + size)];
        if (await this.#isBroken(partOf(without))) left = without;
        else from += size;
      }
    }
    return left;
  }

  async #isBroken(part: Part): Promise<boolean> {
    if (++this.#tries > mostTries) return false;
    const { broken } = await this.run(this.options(part));
    return broken.some(({ rule }) => rule === this.#rule);
  }
}

function pick(
  programs: readonly SimulatedProgram[],
  kept: readonly number[],
): readonly SimulatedProgram[] {
  return programs.filter((_, index) => kept.includes(index));
}
