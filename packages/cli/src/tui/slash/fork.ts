import type { AppControl } from '../app/control.ts';
import { effectsUpTo } from '../session/effects.ts';
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
  const kept = effectsUpTo(app.events, place, app.workplace.agents);
  const id = await app.conversation.fork(at);
  await app.openSession(id);
  const done = kept === '' ? '' : ` Done in the world and not undone: ${kept}.`;
  const text = `A fork of ${from} with its events up to #${place}.${done}`;
  app.note({ sign: 'note', tone: 'plain', text });
}

/** Goes back before a message, in a fork, with the text of the message to change. */
export async function goBackBefore(app: AppControl, seq: number, text: string): Promise<void> {
  await forkAt(app, seq - 1);
  app.compose(text);
}
