import type { TaskInfo } from 'adjutant/scheduler';
import type { Host } from '../host/host.ts';
import { formatTime, shorten } from './format.ts';
import { plainLine } from './plain-text.ts';
import { styleFor } from './style.ts';
import { tableLines } from './table.ts';

const longestName = 60;

/** Writes tasks as a table. */
export function writeTaskTable({ stdout }: Pick<Host, 'stdout'>, tasks: readonly TaskInfo[]): void {
  const rows = tasks.map((task) => [
    task.id,
    task.state,
    task.priority,
    plainLine(task.requester),
    formatTime(task.submittedAt),
    plainLine(task.runnable),
    shorten(plainLine(task.name), longestName),
  ]);
  const [head = '', ...lines] = tableLines(
    ['TASK', 'STATE', 'PRIORITY', 'FOR', 'SUBMITTED', 'AGENT', 'NAME'],
    rows,
  );
  stdout.write(`${[styleFor(stdout).bold(head), ...lines].join('\n')}\n`);
}
