import { cutText } from '../../../base/text/cut-text.ts';
import { visibleLine } from '../../../base/text/visible-text.ts';
import type { TaskInfo } from '../../task-info.ts';

const longestName = 60;
const longestError = 160;

/** Returns the name of a task on one line, short, and with visible characters only. */
export function nameInWords({ name }: Pick<TaskInfo, 'name'>): string {
  return shortLine(name, longestName) || 'a task without a name';
}

/** Returns the message of an error as a part of a sentence. */
export function errorInWords({ error }: Pick<TaskInfo, 'error'>): string | undefined {
  return shortLine(error?.message ?? '', longestError).replace(/[.!…\s]+$/, '') || undefined;
}

function shortLine(text: string, length: number): string {
  // Cut first: the text may have any length.
  const line = visibleLine(
    text
      .slice(0, 4 * length)
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  return line.length <= length ? line : `${cutText(line, length - 1).trimEnd()}…`;
}

const smallNumbers = 'no one two three four five six seven eight nine ten'.split(' ');

/** Returns a count with its noun: "two tasks". */
export function countInWords(count: number, noun = 'task'): string {
  return `${numberInWords(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a whole number, as a word up to ten. */
export function numberInWords(number: number): string {
  return smallNumbers[number] ?? String(number);
}

/** Joins parts as "a, b and c". */
export function listInWords(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Returns a length of time, rounded: "about 5 minutes". */
export function durationInWords(milliseconds: number): string {
  if (milliseconds < 0.75 * minuteMs) return 'less than a minute';
  if (milliseconds < 1.5 * minuteMs) return 'about a minute';
  if (milliseconds < 52 * minuteMs) return `about ${minutesOf(milliseconds)} minutes`;
  if (milliseconds < 1.5 * hourMs) return 'about an hour';
  if (milliseconds < 36 * hourMs) return `about ${Math.round(milliseconds / hourMs)} hours`;
  return `about ${Math.round(milliseconds / dayMs)} days`;
}

/** From 10 minutes on in steps of five: an estimate is not better than that. */
function minutesOf(milliseconds: number): number {
  const minutes = Math.round(milliseconds / minuteMs);
  return minutes <= 10 ? minutes : Math.round(minutes / 5) * 5;
}

/** Returns the first, second, third, … */
export function ordinalInWords(place: number): string {
  const last = place % 100 >= 11 && place % 100 <= 13 ? 0 : place % 10;
  return `${place}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`;
}
