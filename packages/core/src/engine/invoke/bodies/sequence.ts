import type { JsonValue } from '../../../base/json.ts';
import { LedgerMismatchError } from '../../../ledger/errors.ts';
import { hasOutcome } from '../../../ledger/folds/invocation-fold.ts';
import { slotOf } from '../../../ledger/path.ts';
import type { Sequence } from '../../../runnables/sequence.ts';
import type { Runnable } from '../../../session/runnable.ts';
import type { BodyEnd } from '../../frame/invocation.ts';
import { isPartOfLifecycle } from '../../frame/lifecycle.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { cancelledEnd, invoke, isReleased } from '../invoke.ts';
import { dataOfWhole, partInput } from '../part-input.ts';

/**
 * Returns the paths of the parts of a sequence or parallel. They are the names, numbered from the
 * second of equal ones on. A number that makes another part's name is left out.
 */
export function partPaths(parent: string, parts: readonly Runnable[]): readonly string[] {
  const names = new Set(parts.map(({ name }) => name));
  const counts = new Map<string, number>();
  return parts.map(({ name }) => {
    let count = (counts.get(name) ?? 0) + 1;
    while (count > 1 && names.has(`${name}.${count}`)) count++;
    counts.set(name, count);
    return `${parent}/${count === 1 ? name : `${name}.${count}`}`;
  });
}

/** Runs the parts of a sequence in order, from the first one without outcome. */
export async function runSequence(
  sequence: Sequence,
  frame: BodyFrame,
): Promise<BodyEnd | undefined> {
  const { run, record, scope } = frame;
  const paths = partPaths(record.path, sequence.runnables);
  if (frame.resumed) assertContinuable(frame, paths);
  let given = dataOfWhole(frame);
  let output: JsonValue | undefined;
  for (const [i, runnable] of sequence.runnables.entries()) {
    if (scope.aborted) return isReleased(run, scope) ? undefined : cancelledEnd(scope);
    const path = paths[i] as string;
    const input = partInput(run, path, runnable, given);
    const ended = await invoke(run, {
      path,
      runnable,
      mode: 'child',
      ...(input instanceof Promise ? await input : input),
      scope,
      activity: frame.activity,
    });
    if (ended === undefined) return undefined;
    if (ended.status !== 'completed')
      return {
        status: ended.status === 'cancelled' ? 'cancelled' : 'error',
        error: ended.error,
        stopReason: ended.stopReason,
      };
    if (ended.output === undefined) continue;
    output = ended.output;
    given = { data: run.ledger.resolve(output) as JsonValue, from: 'sibling' };
  }
  return { status: 'completed', output };
}

/**
 * Checks that a sequence can be continued in order. It cannot when parts were inserted before begun
 * ones, or removed while open.
 * @throws LedgerMismatchError
 */
function assertContinuable({ run, record }: BodyFrame, paths: readonly string[]): void {
  const tree = run.ledger.invocations;
  const first = paths.findIndex((path) => !hasOutcome(tree, path));
  const later =
    first < 0 ? undefined : paths.slice(first + 1).find((path) => tree.byPath.has(path));
  if (later !== undefined) {
    throw new LedgerMismatchError({
      path: record.path,
      recorded: `that "${later}" had begun`,
      found: `"${paths[first]}" before it, which has not run`,
    });
  }
  assertNoPartGone({ run, record }, paths);
}

/**
 * Checks that no open part has gone from the definition.
 * @throws LedgerMismatchError when a recorded part without outcome is none of these
 */
export function assertNoPartGone(
  { run, record }: Pick<BodyFrame, 'run' | 'record'>,
  paths: readonly string[],
): void {
  for (const child of record.children) {
    const slot = slotOf(child);
    if (
      !paths.includes(slot) &&
      !isPartOfLifecycle(child) &&
      !hasOutcome(run.ledger.invocations, slot)
    ) {
      throw new LedgerMismatchError({
        path: record.path,
        recorded: `the open part "${child}"`,
        found: 'no such part',
      });
    }
  }
}
