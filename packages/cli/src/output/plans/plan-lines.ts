import type { PlanView, SubtaskStatus, SubtaskView } from 'adjutant/plan';
import { formatDuration, shorten } from '../format.ts';
import { plainLine } from '../plain-text.ts';
import type { Style } from '../style.ts';

const signs: Readonly<Record<SubtaskStatus, string>> = {
  pending: '○',
  blocked: '○',
  executing: '…',
  waiting: '?',
  completed: '✓',
  failed: '✗',
  cancelled: '■',
};

/** Longest part of a result that a line has. */
const longestResult = 60;

/** Returns plans with their subtasks in a line each, their critical path and their revisions. */
export function planLines(style: Style, plans: readonly PlanView[]): readonly string[] {
  if (plans.length === 0) return ['There is no plan in this session.'];
  return plans.flatMap((plan) => linesOf(style, plan));
}

function linesOf(style: Style, plan: PlanView): readonly string[] {
  const { name, goal, status, progress, revisions, subtasks, criticalPath, error, path } = plan;
  const last = revisions.at(-1);
  const count = `${progress.completed} of ${progress.total}`;
  const revision = last === undefined ? '' : ` · revision ${last.revision}`;
  const place = style.dim(`  ${plainLine(path)}`);
  return [
    style.bold(`plan "${plainLine(goal ?? name)}"  ${count}${revision} · ${status}`) + place,
    ...subtasks.map((subtask) => `  ${subtaskLine(style, subtask)}`),
    ...(criticalPath.length > 1 ? [style.dim(`  critical: ${criticalPath.join(' → ')}`)] : []),
    ...revisions.map((one) => style.dim(`  ${revisionLine(one)}`)),
    ...(error === undefined ? [] : [style.red(`  ${plainLine(error.message)}`)]),
  ];
}

function subtaskLine(style: Style, subtask: SubtaskView): string {
  const { id, status, description, attempts, startedAt, endedAt, by } = subtask;
  const paint =
    status === 'completed' ? style.green : status === 'failed' ? style.red : style.yellow;
  const isIdle = status === 'pending' || status === 'blocked';
  const took =
    startedAt === undefined || endedAt === undefined ? '' : formatDuration(endedAt - startedAt);
  const parts = [
    plainLine(description),
    plainLine(by ?? subtask.worker ?? subtask.tool ?? ''),
    detailOf(subtask),
    attempts > 1 ? `${attempts} attempts` : '',
    took,
  ].filter((part) => part !== '');
  const head = `${signs[status]} ${id}`;
  return `${isIdle ? head : paint(head)}  ${parts.join(' · ')}`;
}

function detailOf({ status, dependsOn, error, output }: SubtaskView): string {
  switch (status) {
    case 'blocked':
      return `after ${dependsOn.join(', ')}`;
    case 'waiting':
      return 'waits for somebody';
    case 'failed':
      return shorten(plainLine(error?.message ?? 'failed'), longestResult);
    case 'completed':
      return shorten(plainLine(JSON.stringify(output ?? null)), longestResult);
    default:
      return '';
  }
}

function revisionLine({ revision, seq, by, diff }: PlanView['revisions'][number]): string {
  const told = (['added', 'changed', 'removed'] as const).flatMap((what) =>
    diff[what].length === 0 ? [] : `${what} ${diff[what].join(', ')}`,
  );
  const author = by === 'runtime' ? '' : ` by ${plainLine(by)}`;
  const change = told.length === 0 ? 'no change' : told.join('; ');
  return `#${seq} revision ${revision}${author}: ${change}`;
}
