import { defined } from '../../base/defined.ts';
import type { ErrorRecord } from '../../base/error.ts';
import { checkOptions } from '../../base/invalid-option.ts';
import type { JsonValue } from '../../base/json.ts';
import { isCountOrNone, type OptionChecks } from '../../base/options.ts';
import {
  type Actor,
  type Event,
  type EventOf,
  foldEvent,
  type PlanDiff,
  type PlannedSubtask,
} from '../../ledger/event.ts';
import {
  emptyInvocationTree,
  type InvocationRecord,
  type InvocationTree,
  invocationFold,
} from '../../ledger/folds/invocation-fold.ts';
import type { AnySession } from '../../session/session.ts';
import { sourceOf } from '../../views/view-source.ts';
import { criticalPath } from './critical-path.ts';
import { type Attempt, attemptsOf, hasWaitBelow } from './view-attempts.ts';

/**
 * State of a subtask. `blocked`: it waits for the subtasks that it depends on. `waiting`: it waits
 * for somebody outside.
 */
export type SubtaskStatus =
  | 'pending'
  | 'blocked'
  | 'executing'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'cancelled';

export type PlanStatus =
  | 'planning'
  | 'reviewing'
  | 'executing'
  | 'replanning'
  | 'completed'
  | 'failed'
  | 'cancelled';

/** A subtask of the latest revision with its progress. */
export interface SubtaskView extends PlannedSubtask {
  readonly status: SubtaskStatus;
  /** Number of its attempts. */
  readonly attempts: number;
  /** Path of its last attempt; missing before the first. */
  readonly path?: string;
  /** Name of what does it. */
  readonly by?: string;
  readonly output?: JsonValue;
  readonly error?: ErrorRecord;
  /** Epoch milliseconds: the start of the first attempt, and the end of the last. */
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** A revision of a plan, with the difference to the one before. */
export interface PlanRevision {
  readonly revision: number;
  /** Place of its event in the ledger. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** `runtime` for the planner, else the person who changed the plan. */
  readonly by: Actor;
  readonly hash: string;
  readonly diff: PlanDiff;
  /** Keys of the subtasks under way that it cancelled. */
  readonly cancels: readonly string[];
  readonly subtasks: readonly PlannedSubtask[];
}

/** A run of a plan as data. */
export interface PlanView {
  /** Path of the plan. */
  readonly path: string;
  readonly name: string;
  /** Missing before the first revision. */
  readonly goal?: string;
  readonly status: PlanStatus;
  readonly error?: ErrorRecord;
  /** Subtasks of the latest revision, in its order. */
  readonly subtasks: readonly SubtaskView[];
  readonly revisions: readonly PlanRevision[];
  readonly progress: { readonly completed: number; readonly total: number };
  /**
   * Ids of the chain of dependent subtasks that takes the longest; the one of most subtasks where
   * none has run.
   */
  readonly criticalPath: readonly string[];
}

export interface PlanViewOptions {
  /** Only the events up to this one. @default the last one */
  readonly at?: number;
}

const optionChecks: OptionChecks<PlanViewOptions> = { at: isCountOrNone };

/**
 * Reads the plans that ran in a session, in the order in which they began. It needs events alone.
 * @throws InvalidOptionError
 */
export function planViews(
  source: AnySession | readonly Event[],
  options: PlanViewOptions = {},
): readonly PlanView[] {
  checkOptions<PlanViewOptions>('planViews', options, optionChecks);
  const { events, resolve } = sourceOf('planViews', source);
  const { at = events.length } = options;
  const tree = emptyInvocationTree();
  for (const event of events) {
    if (event.seq > at) break;
    foldEvent(invocationFold, tree, event);
  }
  return [...tree.byPath.values()]
    .filter(({ kind }) => kind === 'plan')
    .map((record) => viewOf(tree, record, resolve));
}

type Resolve = (value: unknown) => unknown;

function viewOf(tree: InvocationTree, record: InvocationRecord, resolve: Resolve): PlanView {
  const events = record.events.filter((event) => event.type === 'plan');
  const revisions = events.map((event) => resolve(event) as EventOf<'plan'>);
  const last = revisions.at(-1);
  const subtasks = subtasksOf(tree, record, { planned: last?.subtasks ?? [], resolve });
  return {
    path: record.path,
    name: record.name,
    ...defined({ goal: last?.goal }),
    status: statusOf(tree, record, last),
    ...defined({ error: record.error }),
    subtasks,
    revisions: revisions.map(revisionOf),
    progress: {
      completed: subtasks.filter(({ status }) => status === 'completed').length,
      total: subtasks.length,
    },
    criticalPath: criticalPath(subtasks),
  };
}

function revisionOf(event: EventOf<'plan'>): PlanRevision {
  const { revision, seq, at, by, hash, diff, cancels = [], subtasks } = event;
  return { revision, seq, at, by, hash, diff, cancels, subtasks };
}

function statusOf(
  tree: InvocationTree,
  { path, status, children }: InvocationRecord,
  last: EventOf<'plan'> | undefined,
): PlanStatus {
  if (status === 'completed' || status === 'transferred') return 'completed';
  if (status === 'error') return 'failed';
  if (status === 'cancelled') return 'cancelled';
  const revision = last?.revision ?? 0;
  const numbersOf = (key: string): readonly number[] =>
    children.flatMap((child) =>
      child.startsWith(`${path}/${key}#`) ? Number.parseInt(child.split('#').at(-1) ?? '', 10) : [],
    );
  if (last === undefined) return 'planning';
  // A planner's answer is the plan once its revision is recorded.
  if (numbersOf('plan').some((number) => number > revision)) return 'replanning';
  const isReviewed = children.some(
    (child) => child.startsWith(`${path}/review#`) && tree.byPath.get(child)?.end === undefined,
  );
  return isReviewed ? 'reviewing' : 'executing';
}

function subtasksOf(
  tree: InvocationTree,
  record: InvocationRecord,
  { planned, resolve }: { planned: readonly PlannedSubtask[]; resolve: Resolve },
): readonly SubtaskView[] {
  const attempts = attemptsOf(tree, record);
  const found = planned.map((subtask) => ({ subtask, attempts: attempts.get(subtask.key) ?? [] }));
  const completed = new Set(
    found.flatMap(({ subtask, attempts: made }) =>
      made.at(-1)?.record?.status === 'completed' ? subtask.id : [],
    ),
  );
  return found.map(({ subtask, attempts: made }): SubtaskView => {
    const last = made.at(-1);
    const status =
      last === undefined
        ? subtask.dependsOn.every((id) => completed.has(id))
          ? 'pending'
          : 'blocked'
        : statusOfAttempt(tree, last);
    return { ...subtask, status, attempts: made.length, ...factsOf(made, resolve) };
  });
}

function statusOfAttempt(tree: InvocationTree, { record }: Attempt): SubtaskStatus {
  switch (record?.status) {
    case 'completed':
      return 'completed';
    case 'cancelled':
      return 'cancelled';
    case 'open':
    case 'yielded':
    case 'transferred':
      return hasWaitBelow(tree, record.path) ? 'waiting' : 'executing';
    default:
      return 'failed';
  }
}

function factsOf(
  made: readonly Attempt[],
  resolve: Resolve,
): Pick<SubtaskView, 'path' | 'by' | 'output' | 'error' | 'startedAt' | 'endedAt'> {
  const last = made.at(-1);
  const record = last?.record;
  return defined({
    path: record?.path,
    by: record?.name,
    output: resolve(record?.output) as JsonValue | undefined,
    error: last?.error ?? record?.error,
    startedAt: made.find((one) => one.record !== undefined)?.record?.start.at,
    endedAt: record?.end?.at,
  });
}
