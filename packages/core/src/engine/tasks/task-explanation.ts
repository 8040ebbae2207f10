import { defined } from '../../base/defined.ts';
import { taskKind } from '../../ledger/folds/task.ts';
import type { LedgerStore, TurnBlock, TurnRow, TurnScope } from '../../ledger/port.ts';
import { keyOfTenant } from './submission.ts';
import type { TaskInfo } from './task-info.ts';

/** Estimate from the durations of ended tasks of the same runnable. */
export interface TaskEstimate {
  /** Milliseconds until it begins, for half of the cases and for nine of ten. */
  readonly beginsInMs: { readonly p50: number; readonly p90: number };
  /** Milliseconds that it then takes. */
  readonly takesMs: { readonly p50: number; readonly p90: number };
  /** Number of ended tasks that the estimate is made of. */
  readonly samples: number;
}

/** Reason why a task does not run, and about when it will. */
export interface TaskExplanation {
  readonly task: TaskInfo;
  /** Missing when it runs, has ended, or only waits for a free place. */
  readonly block?: TurnBlock;
  /** Number of tasks that begin before it, by the order of now. */
  readonly before?: number;
  /** Missing without ended tasks to judge by, and while something blocks the task. */
  readonly estimate?: TaskEstimate;
  /** The same in a sentence. */
  readonly text: string;
}

const sampled = 100;

/** Explains a task by the order of the queue. */
export async function explainTask(
  task: TaskInfo,
  parts: {
    readonly ledgers: LedgerStore;
    readonly scope: TurnScope;
    readonly slots: number;
    readonly now: number;
  },
): Promise<TaskExplanation> {
  const found = await parts.ledgers.explainTurn(task.session, parts.scope);
  if (isBehind(task, found?.turn)) return { task, text: behindText };
  const block = withoutTenant(found?.block, task.tenant);
  const before = found?.before;
  const estimate = before === undefined ? undefined : await estimateOf(task, before, parts);
  return {
    task,
    ...defined({ block, before, estimate }),
    text: textOf(task, block, before, estimate),
  };
}

const behindText =
  'It begins when another task of its session has ended, which was submitted first.';

/** True when the turn of the session is that of a task that goes before this one. */
function isBehind({ id, startedAt }: TaskInfo, turn: TurnRow | undefined): boolean {
  return startedAt === undefined && turn?.run !== undefined && turn.run !== id;
}

async function estimateOf(
  { runnable }: TaskInfo,
  before: number,
  { ledgers, slots }: { readonly ledgers: LedgerStore; readonly slots: number },
): Promise<TaskEstimate | undefined> {
  const rows = await ledgers.rows({
    kind: taskKind,
    statuses: ['completed'],
    newestFirst: true,
    limit: sampled,
  });
  const durations = rows
    .flatMap(({ body }) => {
      const { completedAt, runnable: name, startedAt } = body;
      return name === runnable && typeof startedAt === 'number' && typeof completedAt === 'number'
        ? [completedAt - startedAt]
        : [];
    })
    .sort((left, right) => left - right);
  if (durations.length === 0) return undefined;
  const takesMs = { p50: quantile(durations, 0.5), p90: quantile(durations, 0.9) };
  // Each of the places is free again after one task: so many rounds of tasks come before it.
  const rounds = Math.ceil((before + 1) / slots) - (before < slots ? 1 : 0);
  return {
    beginsInMs: { p50: rounds * takesMs.p50, p90: rounds * takesMs.p90 },
    takesMs,
    samples: durations.length,
  };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function textOf(
  { state }: TaskInfo,
  block: TurnBlock | undefined,
  before: number | undefined,
  estimate: TaskEstimate | undefined,
): string {
  if (state === 'running') return 'It runs now.';
  if (['completed', 'failed', 'cancelled', 'timeout'].includes(state))
    return `It has ended: ${state}.`;
  if (block !== undefined) return blockText(block);
  if (before === undefined) return 'It waits for a free place.';
  const place =
    before === 0
      ? 'It is next.'
      : `${before} ${before === 1 ? 'task begins' : 'tasks begin'} before it.`;
  return estimate === undefined
    ? place
    : `${place} By ${estimate.samples} ended tasks it begins in about ` +
        `${Math.round(estimate.beginsInMs.p50 / 1000)} s.`;
}

function blockText(block: TurnBlock): string {
  switch (block.kind) {
    case 'suspended':
      return 'It is suspended: it goes on when somebody resumes it.';
    case 'not_before':
      return `It does not begin before ${new Date(block.at).toISOString()}.`;
    case 'waits':
      return 'It waits for an answer or a message, and not for its turn.';
    case 'key':
      return block.holders.length === 0
        ? `The concurrency key "${block.key}" has no free place: others have its next places.`
        : `The concurrency key "${block.key}" is held by ${block.holders.join(', ')}.`;
    case 'rate':
      return (
        `The rate key "${block.key}" lets the next task begin at ` +
        `${new Date(block.at).toISOString()}.`
      );
    case 'queue_limit':
      return `The queue "${block.queue}" has a limit of ${block.limit} tasks at the same time.`;
    case 'out_of_scope':
      return 'This app does not serve its queue, or does not have its runnable.';
    case 'taken':
      return `A worker has it: ${block.owner}.`;
  }
}

/** A block whose key has the name that its tenant knows. */
function withoutTenant(block: TurnBlock | undefined, tenant: string): TurnBlock | undefined {
  if (block === undefined || !('key' in block)) return block;
  return { ...block, key: block.key.slice(keyOfTenant(tenant, '').length) };
}
