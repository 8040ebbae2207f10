import type { StoredEvent } from 'adjutant';
import type { AgentOutline } from './workplace.ts';

/**
 * Returns in words the calls up to an event that may have changed something outside: `1 editFile,
 * 2 sendMail`. Tools that only read are left out, as far as the agents tell which ones those are.
 */
export function effectsUpTo(
  events: Iterable<StoredEvent>,
  seq: number,
  agents: readonly AgentOutline[],
): string {
  const reading = new Set(agents.flatMap(({ readingTools = [] }) => readingTools));
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.seq > seq) break;
    if (event.type !== 'tool_result' || !event.settled || event.attempt === 0) continue;
    if (event.effect === 'none' || reading.has(event.name)) continue;
    counts.set(event.name, (counts.get(event.name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}
