import type { EventOf } from 'adjutant';
import type { AppControl, Choice } from '../app/control.ts';
import { lineSpans, spread } from '../screens/layout.ts';
import { goBackBefore } from './fork.ts';

/** Lets a person choose a message of theirs: a fork goes on before it, and its text is changed. */
export function pickOwnMessage(app: AppControl): void {
  const own = app.events.filter(isOwn).reverse();
  if (own.length === 0) {
    app.note({ sign: 'note', tone: 'plain', text: 'There is no message of yours yet.' });
    return;
  }
  app.choose(
    'go back before',
    own.map((event) => messageChoice(app, event)),
    { keys: 'Enter fork before it, with its text to change · Esc close' },
  );
}

function isOwn(event: AppControl['events'][number]): event is EventOf<'user'> {
  return event.type === 'user' && event.by === 'user' && event.text !== undefined;
}

function messageChoice(app: AppControl, { seq, text = '' }: EventOf<'user'>): Choice {
  return {
    text,
    line: (space) => spread(lineSpans(text), { facts: [], seq }, space),
    take: () => void goBackBefore(app, seq, text).catch((error: unknown) => app.fail(error)),
  };
}
