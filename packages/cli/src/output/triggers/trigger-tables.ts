import type { TriggerHistoryEntry, TriggerInfo } from 'adjutant/triggers';
import type { Host } from '../../host/host.ts';
import { formatTime, shorten } from '../format.ts';
import { plainLine } from '../plain-text.ts';
import { styleFor } from '../style.ts';
import { tableLines } from '../table.ts';
import { firesOn, instantIn } from './trigger-text.ts';

const longestCell = 60;

type Output = Pick<Host, 'stdout'>;

/** Writes triggers as a table. */
export function writeTriggerTable(output: Output, triggers: readonly TriggerInfo[]): void {
  const rows = triggers.map((trigger) => [
    shorten(plainLine(trigger.name), longestCell),
    trigger.status,
    trigger.nextAt === undefined ? '–' : formatTime(trigger.nextAt),
    String(trigger.fired),
    String(trigger.failed),
    plainLine(trigger.start),
    shorten(firesOn(trigger), longestCell),
  ]);
  writeTable(output, ['TRIGGER', 'STATUS', 'NEXT', 'FIRED', 'FAILED', 'STARTS', 'ON'], rows);
}

/** Writes what has happened to a trigger as a table. */
export function writeHistory(output: Output, entries: readonly TriggerHistoryEntry[]): void {
  const rows = entries.map(({ at, by, decision, reasoning }) => [
    formatTime(at),
    decision,
    plainLine(by),
    plainLine(reasoning),
  ]);
  writeTable(output, ['AT', 'DECISION', 'BY', 'WHY'], rows);
}

/** Writes instants in a zone and in UTC. */
export function writeInstants(output: Output, timeZone: string, instants: readonly number[]): void {
  const zones = timeZone === 'UTC' ? ['UTC'] : [timeZone, 'UTC'];
  const rows = instants.map((instant) => zones.map((zone) => instantIn(zone, instant)));
  writeTable(output, zones, rows);
}

function writeTable(
  { stdout }: Output,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const [head = '', ...lines] = tableLines(columns, rows);
  stdout.write(`${[styleFor(stdout).bold(head), ...lines].join('\n')}\n`);
}
