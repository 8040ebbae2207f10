import { contentHash } from '../../base/hash.ts';
import type { PlanDiff, PlannedSubtask, Subtask } from '../../ledger/event.ts';

/** A subtask after its check: dependencies are listed, those of references too. */
export interface CheckedSubtask extends Subtask {
  readonly dependsOn: readonly string[];
}

/** Contents that each id has had, in order, as hashes: its generations. */
export type Generations = ReadonlyMap<string, readonly string[]>;

/** A revision before it is recorded. */
export interface NextRevision {
  readonly subtasks: readonly PlannedSubtask[];
  readonly diff: PlanDiff;
  readonly hash: string;
}

/**
 * Hash of what a subtask is. One whose content stays the same keeps its results; dependencies and
 * budgets may change without it.
 */
function contentOf({ worker, tool, args, description, expectedOutput }: Subtask): string {
  return contentHash([
    worker ?? null,
    tool ?? null,
    args ?? null,
    description,
    expectedOutput ?? null,
  ]);
}

/** Returns the generations with those of a revision. */
export function withGenerations(
  generations: Generations,
  subtasks: readonly Subtask[],
): Generations {
  const next = new Map(generations);
  for (const subtask of subtasks) {
    const had = next.get(subtask.id) ?? [];
    const content = contentOf(subtask);
    if (!had.includes(content)) next.set(subtask.id, [...had, content]);
  }
  return next;
}

/**
 * Returns the next revision of a plan: the given subtasks, and those that are finished and that it
 * does not name.
 */
export function revise(
  before: readonly PlannedSubtask[],
  given: readonly CheckedSubtask[],
  { finished, generations }: { finished: ReadonlySet<string>; generations: Generations },
): NextRevision {
  const named = new Set(given.map(({ id }) => id));
  const stay = before.filter(({ id, key }) => finished.has(key) && !named.has(id));
  const known = withGenerations(generations, given);
  const subtasks = [
    ...stay,
    ...given.map((subtask): PlannedSubtask => {
      const generation = (known.get(subtask.id) ?? []).indexOf(contentOf(subtask)) + 1;
      const { id } = subtask;
      return { ...subtask, key: generation <= 1 ? id : `${id}~${generation}` };
    }),
  ];
  const keys = new Map(before.map(({ id, key }) => [id, key]));
  const ids = new Set(subtasks.map(({ id }) => id));
  const idsOf = (fits: (one: PlannedSubtask) => boolean) =>
    subtasks.filter(fits).map(({ id }) => id);
  return {
    subtasks,
    diff: {
      added: idsOf(({ id }) => !keys.has(id)),
      changed: idsOf(({ id, key }) => keys.has(id) && keys.get(id) !== key),
      removed: before.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
      kept: idsOf(({ id, key }) => keys.get(id) === key),
    },
    hash: contentHash(subtasks as never).slice(0, 32),
  };
}
