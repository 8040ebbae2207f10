import type {
  ServerTask,
  ServerTaskExplanation,
  ServerTaskPriority,
  ServerTaskState,
} from '@adjutant/server/client';
import { pathOf } from '../../address/paths.ts';
import type { Copied } from '../../components/copy/copied-text.ts';
import type { StatusName } from '../../components/status.tsx';

interface Level {
  readonly priority: ServerTaskPriority;
  readonly name: string;
  readonly note: string;
}

/** Levels of the queue, the most urgent first. */
export const levels: readonly Level[] = [
  { priority: 'realtime', name: 'Realtime', note: 'a person listens' },
  { priority: 'high', name: 'High', note: 'a person waits for the answer' },
  { priority: 'normal', name: 'Normal', note: 'a person asked for it' },
  { priority: 'low', name: 'Low', note: 'nobody waits' },
  { priority: 'background', name: 'Background', note: 'it may take a day' },
];

export function levelName(priority: ServerTaskPriority): string {
  return levels.find((level) => level.priority === priority)?.name ?? priority;
}

/** Filter of the queue, as its address says. */
export interface TaskFilters {
  readonly level?: ServerTaskPriority;
  readonly find?: string;
}

/** Reads the filter of an address. What it does not know is left out. */
export function taskFiltersOf(search: string): TaskFilters {
  const params = new URLSearchParams(search);
  const level = levels.find(({ priority }) => priority === params.get('level'))?.priority;
  const find = params.get('find') ?? '';
  return { ...(level === undefined ? {} : { level }), ...(find === '' ? {} : { find }) };
}

/** Returns the address of the queue, or of a task in it. */
export function tasksAddress({ level, find }: TaskFilters, task?: string): string {
  const params = new URLSearchParams();
  if (level !== undefined) params.set('level', level);
  if (find !== undefined && find !== '') params.set('find', find);
  const path = task === undefined ? '/tasks' : pathOf('tasks', task);
  return params.size === 0 ? path : `${path}?${params}`;
}

/** Row of the queue: the head of a level, or a task. */
export type QueueRow =
  | { readonly kind: 'level'; readonly level: Level; readonly count: number }
  | { readonly kind: 'task'; readonly task: ServerTask };

/** Puts tasks below their levels. In a level they keep the order of the queue. */
export function queueRows(
  tasks: readonly ServerTask[],
  { level: only, find = '' }: TaskFilters,
): readonly QueueRow[] {
  const wanted = find.trim().toLowerCase();
  const fits = ({ id, name, agent, requester, session }: ServerTask): boolean =>
    `${name}\n${agent}\n${requester}\n${session}\n${id}`.toLowerCase().includes(wanted);
  return levels
    .filter(({ priority }) => only === undefined || priority === only)
    .flatMap((level) => {
      const own = tasks.filter((task) => task.priority === level.priority && fits(task));
      const rows = own.map((task): QueueRow => ({ kind: 'task', task }));
      return [{ kind: 'level' as const, level, count: own.length }, ...rows];
    });
}

/** Returns the level beside that of a task: −1 is the more urgent one. */
export function levelBeside(
  priority: ServerTaskPriority,
  by: 1 | -1,
): ServerTaskPriority | undefined {
  return levels[levels.findIndex((level) => level.priority === priority) + by]?.priority;
}

/** Returns the ring and the word for the state of a task. */
export function taskStatus(state: ServerTaskState): readonly [StatusName, string] {
  switch (state) {
    case 'running':
      return ['running', 'Active'];
    case 'queued':
      return ['queued', 'Queued'];
    case 'waiting':
      return ['waiting', 'Waits'];
    case 'suspended':
      return ['held', 'Held'];
    case 'completed':
      return ['completed', 'Completed'];
    case 'failed':
      return ['failed', 'Failed'];
    case 'timeout':
      return ['failed', 'Out of time'];
    default:
      return ['held', 'Cancelled'];
  }
}

const openStates: ReadonlySet<ServerTaskState> = new Set([
  'queued',
  'running',
  'waiting',
  'suspended',
]);

export function isOpen({ state }: Pick<ServerTask, 'state'>): boolean {
  return openStates.has(state);
}

/** Says in few words why a task does not run now. @param timeOf shows a time */
export function whyWords(
  { block, text }: Pick<ServerTaskExplanation, 'block' | 'text'>,
  timeOf: (at: number) => string,
): string {
  const at = block?.['at'];
  if (block?.kind === 'not_before' && typeof at === 'number') return `not before ${timeOf(at)}`;
  if (block?.kind === 'rate' && typeof at === 'number')
    return `the rate “${String(block['key'])}” lets the next one begin at ${timeOf(at)}`;
  if (block?.kind === 'suspended') return 'until somebody resumes it';
  return text.replace(/^It /, 'it ').replace(/\.$/, '');
}

/** A task as it is copied. */
export function copiedTask(task: ServerTask): Copied {
  const { id, name, state, session, agent, error } = task;
  return {
    title: `Task ${name}`,
    facts: [
      ['State', state],
      ['Level', levelName(task.priority)],
      ['Agent', agent],
      ['Session', session],
      ['Error', error === undefined ? '' : `${error.code}: ${error.message}`],
    ],
    data: task,
    request: { path: ['tasks', id] },
  };
}
