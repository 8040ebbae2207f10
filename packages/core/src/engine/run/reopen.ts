import { AdjutantError } from '../../base/error.ts';
import {
  hasGoneOn,
  recordedEffects,
  unknownOutcome,
} from '../../effects/body-effect/recorded-effects.ts';
import type { Actor, EventDraft } from '../../ledger/event.ts';
import type { InvocationRecord, InvocationTree } from '../../ledger/folds/invocation-fold.ts';
import { defaultLane } from '../../ledger/folds/lanes.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { parentOf } from '../../ledger/path.ts';

/** An invocation whose outcome is final. */
export class NotReopenableError extends AdjutantError {
  constructor(data: { path: string; reason: string }) {
    super('not_reopenable', `"${data.path}" cannot be reopened: ${data.reason}.`, data);
  }
}

export interface ReopenOptions {
  /**
   * Path of the invocation that failed or was cancelled.
   * @default the last run of the lane, with every part of it that failed or was cancelled
   */
  readonly path?: string;
  /** Lane of the run, unless `path` is given. @default the default lane */
  readonly lane?: string;
  /** Reason for the ledger. */
  readonly reason: string;
  /** @default 'operator' */
  readonly by?: Actor;
}

/**
 * Returns the events that open a failed or cancelled invocation again. Its outcome no longer
 * counts, and neither do those of the invocations around it. Invocations below it that completed
 * stay completed. Effects of unknown outcome are judged again, questions without an answer asked
 * again.
 * @param withParts true to open also the parts of the invocation that failed or were cancelled
 * @throws NotReopenableError
 */
export function reopenDrafts(
  { invocations }: Pick<Ledger, 'invocations'>,
  { path, lane = defaultLane, reason: why, by = 'operator' }: ReopenOptions,
  withParts = path === undefined,
): readonly EventDraft[] {
  const { byPath, roots } = invocations;
  const target = path ?? roots.findLast((root) => isRootIn(byPath.get(root), lane));
  const record = target === undefined ? undefined : byPath.get(target);
  if (target === undefined || record === undefined)
    throw new NotReopenableError({ path: target ?? '', reason: 'there is no such invocation' });
  const reason =
    whyNotFailed(record) ??
    whyNotReopenable({ invocations }, record) ??
    whyNotOfPlan(byPath, record);
  if (reason !== undefined) throw new NotReopenableError({ path: target, reason });
  const above = ancestors(byPath, record).filter(({ end }) => end !== undefined);
  const failed = [record, ...(withParts ? failedParts(record, byPath) : [])];
  const waits = failed.flatMap((each) => failedWaits(invocations, each));
  return [...above, ...failed, ...waits].map((each) => {
    const effects = reopenedEffects(invocations, each);
    return {
      type: 'invocation_reopen',
      by,
      invocationId: each.path,
      reason: why,
      ...(effects.length === 0 ? {} : { effects }),
    };
  });
}

function isRootIn(record: InvocationRecord | undefined, lane: string): boolean {
  return record?.mode === 'root' && (record.start.lane ?? defaultLane) === lane;
}

/** Returns the reason why an invocation that failed can never run again. */
export function whyNotReopenable(
  { invocations: { byPath } }: Pick<Ledger, 'invocations'>,
  record: InvocationRecord,
): string | undefined {
  const ended = ancestors(byPath, record).find(
    ({ end, status }) => end !== undefined && status !== 'error' && status !== 'cancelled',
  );
  return ended === undefined ? undefined : `"${ended.path}" around it has ended as ${ended.status}`;
}

/** The invocations around one, from the root on. */
function ancestors(
  byPath: ReadonlyMap<string, InvocationRecord>,
  { parent }: InvocationRecord,
): readonly InvocationRecord[] {
  const above = byPath.get(parent ?? '');
  return above === undefined ? [] : [...ancestors(byPath, above), above];
}

/** A plan has dealt with the failures of its subtasks: it is reopened itself. */
function whyNotOfPlan(
  byPath: ReadonlyMap<string, InvocationRecord>,
  record: InvocationRecord,
): string | undefined {
  const plan = byPath.get(record.parent ?? '');
  return plan?.kind === 'plan'
    ? `the plan around it has dealt with its failure; reopen "${plan.path}"`
    : undefined;
}

function whyNotFailed({ end, status }: InvocationRecord): string | undefined {
  if (end === undefined) return 'it has not ended';
  return status === 'error' || status === 'cancelled' ? undefined : `it has ended as ${status}`;
}

/**
 * Effects of an invocation whose unknown outcome is judged again: those that its body has not dealt
 * with.
 */
function reopenedEffects(invocations: InvocationTree, record: InvocationRecord): readonly string[] {
  const place = { invocations, record, childRoot: record.path };
  return [...recordedEffects(place)].flatMap(([id, effect]) => {
    const isOwn = parentOf(id) === record.path;
    return isOwn && unknownOutcome(effect) !== undefined && !hasGoneOn(place, id) ? [id] : [];
  });
}

/**
 * Parts of sequences, parallels and loops that failed or were cancelled. Children that code called
 * are left out, and the subtasks of plans: the code has dealt with their failures.
 */
function failedParts(
  record: InvocationRecord,
  byPath: ReadonlyMap<string, InvocationRecord>,
): readonly InvocationRecord[] {
  if (record.kind === 'plan') return [];
  return record.children.flatMap((path) => {
    const child = byPath.get(path);
    const failed =
      child?.mode === 'child' && (child.status === 'error' || child.status === 'cancelled');
    return child !== undefined && failed ? [child, ...failedParts(child, byPath)] : [];
  });
}

/**
 * Questions and sleeps of a body that ended without an answer or too early. Those that the body has
 * dealt with are left out: it has begun something since.
 */
function failedWaits(
  invocations: InvocationTree,
  record: InvocationRecord,
): readonly InvocationRecord[] {
  const children = record.children.flatMap((path) => invocations.byPath.get(path) ?? []);
  const waits = children.filter(
    ({ kind, status }) =>
      (kind === 'question' || kind === 'sleep') && (status === 'error' || status === 'cancelled'),
  );
  if (waits.length === 0) return [];
  const effects = recordedEffects({ invocations, record, childRoot: record.path }).values();
  const begun = [
    ...children.map(({ start }) => start.seq),
    ...[...effects].map(({ attempts }) => attempts[0]?.seq ?? 0),
  ];
  return waits.filter(({ end }) => begun.every((seq) => seq < (end?.seq ?? 0)));
}
