/**
 * A slip of a developer that the simulator must find. The text is replaced when the file is loaded;
 * nothing on disk changes.
 */
export interface PlantedBug {
  readonly name: string;
  /** The slip, in one sentence. */
  readonly about: string;
  /** Path below `packages/core/src`. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Most seeds until it must be found. @default 200 */
  readonly within?: number;
}

const usualSeeds = 200;
/** Seeds for the bugs that Adjutant once had: points 18 to 21 of its repairs. */
export const seedsOfRepairs = 100;
/** Seeds for the bugs that the checks of a run's end and of people's words are for. */
export const seedsOfChecks = 100;

/** Most seeds until a bug must be found. */
export function mostSeeds({ within = usualSeeds }: PlantedBug): number {
  return within;
}
