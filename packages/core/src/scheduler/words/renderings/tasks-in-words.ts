import type { TaskInfo, TaskState } from '../../task-info.ts';
import { countInWords, listInWords, nameInWords, numberInWords } from './phrases.ts';
import { shareSpoken, taskLine, timeLeft } from './task-in-words.ts';
import { checkWording, type TaskWording } from './task-wording.ts';

const mostInText = 20;
const mostSpoken = 2;

/**
 * Answers "What are you working on?". The lines of the text are numbered in the order of the
 * tasks, for "cancel the second one".
 * @throws InvalidOptionError
 */
export function tasksInWords(tasks: readonly TaskInfo[], wording: TaskWording): string {
  checkWording('tasksInWords', wording);
  return wording.format === 'text' ? tasksAsText(tasks, wording) : tasksSpoken(tasks, wording);
}

function tasksAsText(tasks: readonly TaskInfo[], wording: TaskWording): string {
  if (tasks.length === 0) return 'There are no tasks.';
  const { most = mostInText } = wording;
  const lines = tasks
    .slice(0, most)
    .map((task, index) => `${index + 1}. ${taskLine(task, wording)}`);
  const more = tasks.length - lines.length;
  const heading = tasks.length === 1 ? '1 task:' : `${tasks.length} tasks:`;
  return [heading, ...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

function tasksSpoken(tasks: readonly TaskInfo[], wording: TaskWording): string {
  const inState = (state: TaskState) => tasks.filter((task) => task.state === state);
  const running = inState('running');
  const others = [
    ...queuedSpoken(inState('queued'), wording),
    ...counted(inState('waiting').length, 'waits for an answer', 'wait for an answer'),
    ...counted(inState('suspended').length, 'is suspended', 'are suspended'),
  ];
  const first = runningSpoken(running, wording, others.length === 0);
  return others.length === 0 ? first : `${first} ${sentence(listInWords(others))}`;
}

/** Says what runs; the estimate only where nothing else is said. */
function runningSpoken(
  running: readonly TaskInfo[],
  wording: TaskWording,
  withEstimate: boolean,
): string {
  const [only, second] = running;
  if (only === undefined) return "I'm not working on anything right now.";
  const names = namesSpoken(running, wording.most ?? mostSpoken);
  if (second !== undefined) return `I'm working on ${names}.`;
  const left = withEstimate ? timeLeft(only, wording) : undefined;
  const estimate = left === undefined ? '' : ` It should be done in ${left}.`;
  return `I'm working on ${names}${shareSpoken(only)}.${estimate}`;
}

/** Names some tasks and counts the others: "a, b and two more". */
export function namesSpoken(tasks: readonly TaskInfo[], most: number): string {
  const named = tasks.slice(0, most).map(nameInWords);
  const more = tasks.length - named.length;
  return listInWords(more > 0 ? [...named, `${numberInWords(more)} more`] : named);
}

function queuedSpoken(queued: readonly TaskInfo[], { positions }: TaskWording): readonly string[] {
  const next = queued.find(({ id }) => positions?.get(id) === 1) ?? queued[0];
  if (next === undefined) return [];
  const more = queued.length - 1;
  const others =
    more === 0 ? [] : [`${numberInWords(more)} more ${more === 1 ? 'is' : 'are'} in line`];
  return [`${nameInWords(next)} is next`, ...others];
}

function counted(count: number, one: string, several: string): readonly string[] {
  return count === 0 ? [] : [`${countInWords(count)} ${count === 1 ? one : several}`];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
