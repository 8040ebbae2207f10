import { canonicalJson, type JsonValue } from '../../base/json.ts';
import type { EndOfProgram } from './ends/program-ends.ts';
import { isOutcomeUnseen } from './ends/unseen-outcomes.ts';
import { firstDifference } from './report/first-difference.ts';
import type { SimulationRule } from './report/simulation-rules.ts';
import { type SeedOptions, type SeedOutcome, simulateSeed } from './simulate-seed.ts';
import type { BrokenRule } from './watched-ledger.ts';

/** Rules that are broken by the difference between runs of a seed. */
export const rulesOfComparison: ReadonlySet<SimulationRule> = new Set<SimulationRule>([
  'same_seed',
  'same_end',
  'failure_explained',
]);

/** What a seed came to with faults and without, and how much of the two was compared. */
export interface CheckedSeed {
  readonly outcome: SeedOutcome;
  readonly calm: SeedOutcome;
  /** Options of the run of `outcome`. */
  readonly failing: SeedOptions;
  /** Programs whose ends were compared, by their places. */
  readonly compared: ReadonlySet<number>;
  /** Users whose shared state was compared. */
  readonly comparedUsers: number;
}

const nothingCompared = { compared: new Set<number>(), comparedUsers: 0 };

/** Simulates a seed twice, and once without faults, and compares the three. */
export async function checkedSeed(given: SeedOptions): Promise<CheckedSeed> {
  // First, so that modules which the app loads at their first use are there in the two others.
  const withoutFaults = { ...given, rates: {} };
  const calm = await simulateSeed(withoutFaults);
  // A rule that is broken without any fault is told so: no story is shorter.
  if (calm.broken.length > 0)
    return { outcome: calm, calm, failing: withoutFaults, ...nothingCompared };
  const outcome = await simulateSeed(given);
  const broken: BrokenRule[] = [...outcome.broken];
  if (broken.length > 0) return { outcome, calm, failing: given, ...nothingCompared };
  const again = await simulateSeed(given);
  if (again.trace !== outcome.trace)
    broken.push({
      rule: 'same_seed',
      detail: `a second run of the seed goes another way: ${firstDifference(outcome, again)}`,
    });
  const { differences, ...compared } = compareEnds(outcome, calm);
  broken.push(...differences);
  return { outcome: { ...outcome, broken }, calm, failing: given, ...compared };
}

/**
 * Compares the ends of the programs. A failure that is not there without faults has a cause, unless
 * the run without faults never saw what the call comes to. Where nothing came that is not there
 * without faults, the end is the same.
 */
function compareEnds(
  outcome: SeedOutcome,
  calm: SeedOutcome,
): Pick<CheckedSeed, 'compared' | 'comparedUsers'> & {
  readonly differences: readonly BrokenRule[];
} {
  const differences: BrokenRule[] = [];
  const compare = (what: string, both: readonly unknown[]): void => {
    const [found, wanted] = both.map((value) => canonicalJson(value as JsonValue));
    if (found === wanted) return;
    differences.push({ rule: 'same_end', detail: `${what}: ${found}, not ${wanted}` });
  };
  const compared = new Set<number>();
  const changed = new Set<string | undefined>();
  for (const end of outcome.ends) {
    const wanted = calm.ends.find(({ index }) => index === end.index);
    if (wanted === undefined) continue;
    const known = new Set(wanted.deviations.map(({ text }) => text));
    const more = end.deviations.filter(({ text }) => !known.has(text));
    const knownOfParts = new Set([...known].map(withoutInputs));
    const isUnseen = (callId: string | undefined): boolean =>
      callId !== undefined && isOutcomeUnseen(wanted.events, callId);
    for (const { callId, isExplained, text } of more)
      if (!isExplained && !knownOfParts.has(withoutInputs(text)) && !isUnseen(callId))
        differences.push({ rule: 'failure_explained', detail: text });
    const found = new Set(end.deviations.map(({ text }) => text));
    const isLess = wanted.deviations.some(({ mayLack, text }) => mayLack && !found.has(text));
    if (more.length > 0 || isLess) {
      changed.add(end.user);
      continue;
    }
    compared.add(end.index);
    compare(`run${end.index}`, [comparable(end), comparable(wanted)]);
  }
  // The state of a user is that of all programs of the user together.
  const users = Object.keys(outcome.shared).filter((user) => !changed.has(user));
  for (const user of users) compare(`state of ${user}`, [outcome.shared[user], calm.shared[user]]);
  return { compared, comparedUsers: users.length, differences };
}

/**
 * The text of a deviation without the hashes of inputs. Edited code that gives a child another
 * input has another path for it, and the child fails there as it does without faults.
 */
function withoutInputs(text: string): string {
  return text.replaceAll(/#[0-9a-f]{20}/g, '');
}

function comparable({ deviations, output, state, status, stopReason }: EndOfProgram) {
  const texts = deviations.flatMap(({ isAnswer, text }) => (isAnswer ? [] : [text]));
  // A run that is repaired may fail in the same way again.
  return { status, stopReason, output, state, deviations: [...new Set(texts)] };
}
