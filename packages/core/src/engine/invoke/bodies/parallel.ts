import { defined } from '../../../base/defined.ts';
import type { ErrorRecord } from '../../../base/error.ts';
import { asJson, findJsonDefect, type JsonValue } from '../../../base/json.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import { NotJsonError } from '../../../ledger/errors.ts';
import type { EventDraft, StateChange } from '../../../ledger/event.ts';
import { type InvocationRecord, lastRecord } from '../../../ledger/folds/invocation-fold.ts';
import { visibleValues } from '../../../ledger/folds/state-fold.ts';
import { lastPartOf } from '../../../ledger/path.ts';
import type { BranchOutcome, Parallel } from '../../../runnables/parallel.ts';
import type { BodyEnd } from '../../frame/invocation.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { cancelledEnd, isReleased } from '../invoke.ts';
import { dataOfWhole, type PartInput, partInput } from '../part-input.ts';
import { ScheduledChildren } from './scheduled-children.ts';
import { assertNoPartGone, partPaths } from './sequence.ts';

/**
 * Runs all branches at the same time and joins their writes: the merged state and the end are one
 * append.
 */
export async function runParallel(
  parallel: Parallel,
  frame: BodyFrame,
): Promise<BodyEnd | undefined> {
  const { run, record, scope } = frame;
  const paths = partPaths(record.path, parallel.runnables);
  if (frame.resumed) assertNoPartGone(frame, paths);
  const inputs = branchInputs(parallel, frame, paths);
  const given = inputs.some((one) => one instanceof Promise)
    ? await Promise.all(inputs)
    : (inputs as readonly PartInput[]);
  const children = new ScheduledChildren(frame);
  const keys = paths.map(lastPartOf);
  for (const [i, runnable] of parallel.runnables.entries())
    children.start({
      key: keys[i] as string,
      runnable,
      branch: true,
      timeoutMs: parallel.branchTimeoutMs,
      ...given[i],
    });
  const ended = await endsOf(parallel, frame, { paths, children });
  if (isReleased(run, scope)) return undefined;
  if (scope.aborted) return cancelledEnd(scope);
  const records = keys.flatMap((key) => ended.get(key) ?? []);
  return records.length < keys.length ? undefined : join(parallel, frame, records);
}

/**
 * Returns the ends of the branches, by key. When the ends of some decide that the others stop, they
 * are durable before these are cancelled.
 */
async function endsOf(
  parallel: Parallel,
  frame: BodyFrame,
  { paths, children }: { readonly paths: readonly string[]; readonly children: ScheduledChildren },
): Promise<ReadonlyMap<string, InvocationRecord>> {
  const ended = new Map<string, InvocationRecord>();
  let isStopping = false;
  for (;;) {
    const reason = isStopping ? undefined : reasonToStop(parallel, frame, paths);
    if (reason !== undefined) {
      isStopping = true;
      // A ledger that cannot be written any more stops the branches, too.
      await frame.run.ledger.durable()?.catch(() => undefined);
      children.cancelAll(reason);
    }
    const one = await children.next();
    if (one === undefined) return ended;
    ended.set(one.key, one.record);
  }
}

/**
 * Reason for which branches that have not ended are cancelled; `undefined` when they go on. It
 * follows from the ledger alone, so that a later process finds the same one.
 */
function reasonToStop(
  { failFast, until, name }: Parallel,
  { run }: BodyFrame,
  paths: readonly string[],
): string | undefined {
  const statusOf = (path: string) => lastRecord(run.ledger.invocations, path)?.status;
  const failed = failFast ? paths.find((path) => statusOf(path) === 'error') : undefined;
  if (failed !== undefined) return `"${failed}" failed, and the branches beside it were cancelled.`;
  const completed = paths.filter((path) => statusOf(path) === 'completed').length;
  return until !== undefined && completed >= until
    ? `${completed} branches of "${name}" completed, and the others were cancelled.`
    : undefined;
}

/** Returns the inputs of all branches: none begins before each is known to fit. */
function branchInputs(
  { runnables }: Parallel,
  frame: BodyFrame,
  paths: readonly string[],
): readonly (PartInput | Promise<PartInput>)[] {
  const data = dataOfWhole(frame);
  return runnables.map((part, i) => partInput(frame.run, paths[i] as string, part, data));
}

function join(
  parallel: Parallel,
  { run, record }: BodyFrame,
  ended: readonly InvocationRecord[],
): BodyEnd {
  const { state } = run.ledger;
  const outcomes = ended.map((branch, i): BranchOutcome => {
    const completed = branch.status === 'completed';
    return {
      name: parallel.runnables[i]?.name ?? branch.name,
      status: branch.status as BranchOutcome['status'],
      output: branch.output,
      error: branch.error,
      changes: completed ? (state.overlays.get(branch.path) ?? {}) : {},
    };
  });
  const base = visibleValues(state, 'session', record.path);
  const merged =
    parallel.merge === undefined
      ? lastWins(outcomes)
      : checked(parallel, parallel.merge({ branches: outcomes, state: base }));
  const before = joinDrafts(
    record.path,
    base,
    merged,
    parallel.merge === undefined ? conflictsOf(outcomes) : [],
  );
  const successful = outcomes.filter(({ status }) => status === 'completed');
  if (successful.length < parallel.minSuccessful)
    return { status: 'error', error: tooFew(parallel, outcomes), before };
  const output: Record<string, JsonValue> = {};
  outcomes.forEach((outcome, i) => {
    const name = nameOf(ended[i] as InvocationRecord, record.path);
    if (outcome.status === 'completed') output[name] = outcome.output ?? null;
    else if (parallel.showsFailed) output[name] = failedBranch(outcome);
  });
  return { status: 'completed', output, before };
}

function failedBranch({ status, error }: BranchOutcome): JsonValue {
  return asJson({ failed: true, status, ...defined({ error }) });
}

/** Returns the branch's key in its parent, without handoffs: equal names are numbered. */
function nameOf(branch: InvocationRecord, parent: string): string {
  return branch.path.slice(parent.length + 1).replace(/>.*$/, '');
}

type Changes = Readonly<Record<string, JsonValue | undefined>>;

/**
 * Checks the result of `merge`.
 * @throws NotJsonError when it is not JSON, which the state could not hold
 */
function checked(parallel: Parallel, merged: Changes): Changes {
  const defect = findJsonDefect(merged);
  if (defect !== undefined)
    throw new NotJsonError({ what: `What \`merge\` of "${parallel.name}" gives`, ...defect });
  return merged;
}

function lastWins(outcomes: readonly BranchOutcome[]): Record<string, JsonValue | undefined> {
  return Object.assign({}, ...outcomes.map(({ changes }) => changes));
}

function conflictsOf(outcomes: readonly BranchOutcome[]): string[] {
  const writers = new Map<string, string[]>();
  for (const { name, changes } of outcomes)
    for (const key of Object.keys(changes)) writers.set(key, [...(writers.get(key) ?? []), name]);
  return [...writers]
    .filter(([, names]) => names.length > 1)
    .map(
      ([key, names]) =>
        `"${key}" was written by ${names.join(', ')}; that of ${names.at(-1)} stays`,
    );
}

function joinDrafts(
  path: string,
  base: Readonly<Record<string, JsonValue>>,
  merged: Readonly<Record<string, JsonValue | undefined>>,
  conflicts: readonly string[],
): EventDraft[] {
  const changes: StateChange[] = Object.entries(merged).map(([key, newValue]) => ({
    key,
    ...defined({ oldValue: base[key], newValue }),
  }));
  const drafts: EventDraft[] = [];
  if (changes.length > 0)
    drafts.push({
      type: 'state_change',
      by: 'runtime',
      invocationId: path,
      scope: 'session',
      source: 'mutation',
      changes,
    });
  if (conflicts.length > 0) {
    drafts.push(
      decision('parallel', 'last_declared_wins', {
        invocationId: path,
        reasoning: `Branches wrote the same keys: ${conflicts.join('; ')}.`,
        alternatives: ['give the parallel a `merge` function'],
      }),
    );
  }
  return drafts;
}

function tooFew(parallel: Parallel, outcomes: readonly BranchOutcome[]): ErrorRecord {
  const failed = outcomes.filter(({ status }) => status !== 'completed');
  const reasons = failed
    .map(({ name, status, error }) => `${name}: ${error?.message ?? status}`)
    .join('; ');
  const completed = outcomes.length - failed.length;
  return {
    name: 'ParallelError',
    code: 'too_few_branches',
    message:
      `${completed} of ${outcomes.length} branches completed, ${parallel.minSuccessful} had ` +
      `to (${reasons}).`,
  };
}
