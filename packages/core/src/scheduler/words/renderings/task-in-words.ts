import type { TaskInfo } from '../../task-info.ts';
import { durationInWords, errorInWords, nameInWords, ordinalInWords } from './phrases.ts';
import { checkWording, type TaskWording } from './task-wording.ts';

/**
 * Puts one task into words: its state, its round, its place in line and the time that is left.
 * @throws InvalidOptionError
 */
export function taskInWords(task: TaskInfo, wording: TaskWording): string {
  checkWording('taskInWords', wording);
  return wording.format === 'text' ? taskLine(task, wording) : taskSentence(task, wording);
}

/** "[running] Market research: round 3 of 5 done (about 60 %), about 2 minutes left" */
export function taskLine(task: TaskInfo, wording: TaskWording): string {
  const state = task.state === 'queued' ? `queued, ${task.priority}` : stateWord(task);
  const details = detailsOf(task, wording);
  const line = `[${state}] ${nameInWords(task)}`;
  return details.length === 0 ? line : `${line}: ${details.join(', ')}`;
}

function stateWord({ state }: TaskInfo): string {
  return state === 'timeout' ? 'timed out' : state;
}

function detailsOf(task: TaskInfo, wording: TaskWording): readonly string[] {
  const done = roundsDone(task);
  const left = timeLeft(task, wording);
  switch (task.state) {
    case 'running':
      return texts(done ?? firstRound(task), left && `${left} left`);
    case 'queued':
      return texts(done, placeInLine(task, wording), left && `done in ${left}`);
    case 'waiting':
      return texts(done, 'waits for an answer or an event');
    case 'suspended':
      return texts(done, 'goes on when you resume it');
    case 'failed':
      return texts(errorInWords(task), since(task, wording));
    default:
      return texts(since(task, wording));
  }
}

function texts(...parts: readonly (string | undefined)[]): readonly string[] {
  return parts.filter((part) => part !== undefined && part !== '') as readonly string[];
}

function firstRound(task: TaskInfo): string | undefined {
  const most = mostRounds(task);
  return most === undefined ? undefined : `in round 1 of ${most}`;
}

function mostRounds({ maxRounds }: TaskInfo): number | undefined {
  return maxRounds !== undefined && Number.isSafeInteger(maxRounds) && maxRounds > 0
    ? maxRounds
    : undefined;
}

function roundsDone(task: TaskInfo): string | undefined {
  const { roundsCompleted } = task;
  const most = mostRounds(task);
  if (!(roundsCompleted > 0)) return undefined;
  if (most === undefined) return `round ${roundsCompleted} done`;
  return `round ${Math.min(roundsCompleted, most)} of ${most} done (about ${shareDone(task)} %)`;
}

/** Share of the rounds in percent, in steps of five. An open task is never quite done. */
function shareDone(task: TaskInfo): number | undefined {
  const most = mostRounds(task);
  if (most === undefined || !(task.roundsCompleted > 0)) return undefined;
  const steps = Math.round((20 * task.roundsCompleted) / most);
  return Math.min(95, Math.max(5, steps * 5));
}

/** Place in line in words; work that nobody waits for has no place that would interest anyone. */
function placeInLine(task: TaskInfo, { now, positions }: TaskWording): string {
  if (task.notBefore !== undefined && task.notBefore > now)
    return `starts in ${durationInWords(task.notBefore - now)}`;
  const place = positions?.get(task.id);
  if (place === 1) return 'next in line';
  if (task.priority === 'low' || task.priority === 'background') return "will run when I'm free";
  return place === undefined || !(place > 1)
    ? 'waits for its turn'
    : `${ordinalInWords(place)} in line`;
}

/** Estimate of the time until a task is done. */
export function timeLeft({ id }: TaskInfo, { estimates }: TaskWording): string | undefined {
  const estimate = estimates?.get(id);
  return estimate === undefined || !Number.isFinite(estimate)
    ? undefined
    : durationInWords(estimate);
}

function since({ completedAt }: TaskInfo, { now }: TaskWording): string | undefined {
  return completedAt === undefined ? undefined : `${durationInWords(now - completedAt)} ago`;
}

function taskSentence(task: TaskInfo, wording: TaskWording): string {
  const name = nameInWords(task);
  const left = timeLeft(task, wording);
  const estimate = left === undefined ? '' : ` It should be done in ${left}.`;
  switch (task.state) {
    case 'running':
      return `I'm working on ${name}${shareSpoken(task)}.${estimate}`;
    case 'queued':
      return `${name}: ${placeInLine(task, wording)}.${estimate}`;
    case 'waiting':
      return `${name} waits for an answer or an event.`;
    case 'suspended':
      return `${name} is suspended. Tell me to resume it.`;
    case 'completed':
      return `${name} is done.`;
    case 'cancelled':
      return `${name} was cancelled.`;
    case 'timeout':
      return `${name} ran out of time.`;
    default:
      return `${name} has failed${reasonOf(task)}.`;
  }
}

/** Share that is done, as the end of a sentence. */
export function shareSpoken(task: TaskInfo): string {
  const share = shareDone(task);
  return share === undefined ? '' : `, about ${share} percent done`;
}

function reasonOf(task: TaskInfo): string {
  const error = errorInWords(task);
  return error === undefined ? '' : `: ${error}`;
}
