import { canonicalJson, type JsonValue } from '../../base/json.ts';
import { firstDifference } from './report/first-difference.ts';
import { type SeedOptions, type SeedOutcome, simulateSeed } from './simulate-seed.ts';
import type { BrokenRule, SimulationRule } from './watched-ledger.ts';

/** Rules that are broken by the difference between runs of a seed. */
export const rulesOfComparison: ReadonlySet<SimulationRule> = new Set<SimulationRule>([
  'same_seed',
  'same_end',
]);

/** What a seed came to with faults, and without. */
export interface CheckedSeed {
  readonly outcome: SeedOutcome;
  readonly calm: SeedOutcome;
  /** Options of the run of `outcome`. */
  readonly failing: SeedOptions;
  /** Programs whose ends were compared. */
  readonly compared: number;
}

/** Simulates a seed twice, and once without faults, and compares the three. */
export async function checkedSeed(given: SeedOptions): Promise<CheckedSeed> {
  // First, so that modules which the app loads at their first use are there in the two others.
  const withoutFaults = { ...given, rates: {} };
  const calm = await simulateSeed(withoutFaults);
  // A rule that is broken without any fault is told so: no story is shorter.
  if (calm.broken.length > 0) return { outcome: calm, calm, failing: withoutFaults, compared: 0 };
  const outcome = await simulateSeed(given);
  const broken: BrokenRule[] = [...outcome.broken];
  if (broken.length > 0) return { outcome, calm, failing: given, compared: 0 };
  const again = await simulateSeed(given);
  if (again.trace !== outcome.trace)
    broken.push({
      rule: 'same_seed',
      detail: `a second run of the seed goes another way: ${firstDifference(outcome, again)}`,
    });
  const { compared, differences } = compareEnds(outcome, calm);
  broken.push(...differences);
  return { outcome: { ...outcome, broken }, calm, failing: given, compared };
}

/** Compares the ends of the programs in which nothing happened that may change them. */
function compareEnds(
  outcome: SeedOutcome,
  calm: SeedOutcome,
): { readonly compared: number; readonly differences: readonly BrokenRule[] } {
  const differences: BrokenRule[] = [];
  const compare = (what: string, both: readonly unknown[]): void => {
    const [found, wanted] = both.map((value) => canonicalJson(value as JsonValue));
    if (found === wanted) return;
    differences.push({ rule: 'same_end', detail: `${what}: ${found}, not ${wanted}` });
  };
  let compared = 0;
  for (const [index, end] of outcome.ends.entries()) {
    const wanted = calm.ends[index];
    if (wanted === undefined || !end.isUndisturbed || !wanted.isUndisturbed) continue;
    compared++;
    compare(
      `run${index}`,
      [end, wanted].map(({ output, state, status }) => ({ status, output, state })),
    );
  }
  // The state of a user is that of all programs together.
  const isCalm = [...outcome.ends, ...calm.ends].every(({ isUndisturbed }) => isUndisturbed);
  if (isCalm) compare('shared state', [outcome.shared, calm.shared]);
  return { compared, differences };
}
