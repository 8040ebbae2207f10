import { checkOptions } from '../../../base/invalid-option.ts';
import { isCountOrNone, isList, isObject } from '../../../base/options.ts';
import { type TaskPriority, taskPriorities } from '../../priority.ts';
import type { TaskInfo } from '../../task-info.ts';
import { countInWords, numberInWords } from './phrases.ts';
import { taskLine } from './task-in-words.ts';
import { checkWording, type TaskWording } from './task-wording.ts';
import { namesSpoken } from './tasks-in-words.ts';

/** Amount of work that there is to do. */
export interface QueueDepth {
  /** Tasks that run. */
  readonly running: readonly TaskInfo[];
  /** Number of tasks that wait for their turn. */
  readonly queued: number;
  /** The same by priority. */
  readonly queuedByPriority?: Readonly<Partial<Record<TaskPriority, number>>>;
  /** Number of tasks that wait for a person, an instant or another system. @default 0 */
  readonly waiting?: number;
  /** @default 0 */
  readonly suspended?: number;
}

const mostSpoken = 2;
const mostInText = 20;

/**
 * Answers "How busy are you?".
 * @throws InvalidOptionError
 */
export function queueInWords(depth: QueueDepth, wording: TaskWording): string {
  checkWording('queueInWords', wording);
  // `null` stands for a missing option, because the check ignores `undefined`.
  const given = { ...depth, running: depth?.running ?? null, queued: depth?.queued ?? null };
  checkOptions('queueInWords', given, {
    running: isList,
    queued: isCountOrNone,
    queuedByPriority: isObject,
    waiting: isCountOrNone,
    suspended: isCountOrNone,
  });
  return wording.format === 'text' ? queueAsText(depth, wording) : queueSpoken(depth, wording);
}

function queueAsText(depth: QueueDepth, wording: TaskWording): string {
  const { running, queued, waiting = 0, suspended = 0 } = depth;
  const { most = mostInText } = wording;
  const more = Math.max(0, running.length - most);
  return [
    `Running: ${running.length}`,
    ...running.slice(0, most).map((task) => `- ${taskLine(task, wording)}`),
    ...(more > 0 ? [`… and ${more} more`] : []),
    `Queued: ${queued}${priorities(depth)}`,
    ...(waiting > 0 ? [`Waiting for an answer or an event: ${waiting}`] : []),
    ...(suspended > 0 ? [`Suspended: ${suspended}`] : []),
  ].join('\n');
}

function priorities({ queuedByPriority = {} }: QueueDepth): string {
  const parts = taskPriorities.flatMap((priority) => {
    const count = queuedByPriority[priority] ?? 0;
    return count > 0 ? [`${count} ${priority}`] : [];
  });
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

function queueSpoken({ running, queued }: QueueDepth, { most = mostSpoken }: TaskWording): string {
  if (running.length === 0)
    return queued === 0
      ? "I'm free right now."
      : `I'm not working on anything right now, but ${inLine(queued)}.`;
  const names = namesSpoken(running, most);
  return queued === 0
    ? `I'm working on ${names}. Nothing else is in line.`
    : `I'm working on ${names}, and ${inLine(queued, ' more')}.`;
}

function inLine(queued: number, more = ''): string {
  return more === ''
    ? `${countInWords(queued)} ${queued === 1 ? 'is' : 'are'} in line`
    : `${numberInWords(queued)} more ${queued === 1 ? 'is' : 'are'} in line`;
}
