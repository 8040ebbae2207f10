import type { AppControl } from '../app/control.ts';
import { endingOf } from '../session/workplace.ts';

/**
 * Forks the open session at an event and opens the fork. Says what was done in the world up to
 * there, which no fork undoes. @param at sequence number of the last event that the fork has
 */
export async function forkAt(app: AppControl, at?: number): Promise<void> {
  const { session } = app.conversation;
  if (session === undefined) {
    app.note({ sign: 'note', tone: 'plain', text: 'The session has no events yet.' });
    return;
  }
  const from = endingOf(session);
  const place = at ?? app.events.at(-1)?.seq ?? 0;
  const kept = effectsUpTo(app, place);
  const id = await app.conversation.fork(at);
  await app.openSession(id);
  const done = kept === '' ? '' : ` Done in the world and not undone: ${kept}.`;
  const text = `A fork of ${from} with its events up to #${place}.${done}`;
  app.note({ sign: 'note', tone: 'plain', text });
}

/** The calls up to an event that had results, counted by their names. */
export function effectsUpTo({ events }: Pick<AppControl, 'events'>, seq: number): string {
  const counts = new Map<string, number>();
  for (const event of events)
    if (event.seq <= seq && event.type === 'tool_result' && event.settled && event.attempt > 0)
      counts.set(event.name, (counts.get(event.name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}
