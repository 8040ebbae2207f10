import type { SessionListing } from 'adjutant';
import { formatMoment } from '../../output/format.ts';
import type { AppControl, Choice } from '../app/control.ts';
import type { Tone } from '../feed/block.ts';
import { gutterSign, lineSpans, spread, toned } from '../screens/layout.ts';
import { endingOf, type SessionExtent } from '../session/workplace.ts';
import type { SignName } from '../text/signs.ts';

const statuses: Readonly<Record<SessionListing['status'], readonly [SignName, Tone, string]>> = {
  active: ['note', 'plain', 'open'],
  awaiting_input: ['asks', 'attention', 'waits'],
  sleeping: ['waiting', 'plain', 'sleeps'],
  completed: ['done', 'success', ''],
  error: ['failed', 'failure', 'failed'],
};

/** Lets a person choose a session, of the project or of the whole store. */
export async function pickSession(
  app: AppControl,
  words: string,
  extent: SessionExtent = 'project',
): Promise<void> {
  const found = await app.workplace.listSessions(words, extent);
  const isAll = extent === 'all';
  if (found.length === 0 && isAll) {
    app.note({ sign: 'note', tone: 'plain', text: 'There are no sessions yet.' });
    return;
  }
  const [here, there] = isAll ? ['all', 'this folder'] : ['this folder', 'all'];
  app.choose(
    'sessions',
    found.map((listing) => sessionChoice(app, listing)),
    {
      fact: `${here} (${found.length}) · Tab: ${there}`,
      keys: 'Enter open · → more: fork, export, delete (asks) · Esc back',
      other: () => begin(app, () => pickSession(app, words, isAll ? 'project' : 'all')),
    },
  );
}

/** The choice that opens a session. */
function sessionChoice(app: AppControl, listing: SessionListing): Choice {
  const { id, title = '', runnable = '', seq, status, updatedAt } = listing;
  const [signName, tone, word] = statuses[status];
  const when = formatMoment(updatedAt, Date.now());
  return {
    text: `${title} ${runnable} ${id}`,
    line: (space) => {
      const left = [
        gutterSign(signName, toned(tone), space),
        ...lineSpans(title === '' ? id : title),
      ];
      const facts = [runnable, word, when, `${seq} events`, endingOf(id)];
      return spread(left, { facts: facts.filter((fact) => fact !== '') }, space);
    },
    take: () => begin(app, () => app.openSession(id)),
    more: () => offerMore(app, listing),
  };
}

/** Lets a person choose what else is done with a session. */
function offerMore(app: AppControl, { id, title = id }: SessionListing): void {
  const acts: readonly [string, () => Promise<void>][] = [
    ['Open it', () => app.openSession(id)],
    ['Fork it, and open the fork', () => openFork(app, id)],
    ['Export it into a file, without secrets', () => exported(app, id)],
    ['Delete it for good', async () => askToDelete(app, id, title)],
  ];
  app.choose(`session ${endingOf(id)}`, choicesOf(app, acts));
}

function askToDelete(app: AppControl, id: string, title: string): void {
  app.choose(
    `Delete "${title.slice(0, 40)}" for good?`,
    choicesOf(app, [
      ['No, keep it', async () => undefined],
      ['Yes, delete it', () => deleted(app, id)],
    ]),
  );
}

function choicesOf(
  app: AppControl,
  acts: readonly (readonly [string, () => Promise<void>])[],
): readonly Choice[] {
  return acts.map(([text, act]) => ({
    text,
    line: [{ text }],
    take: () => begin(app, act),
  }));
}

async function openFork(app: AppControl, id: string): Promise<void> {
  const from = await app.workplace.open(id);
  await app.openSession(await from.fork());
}

async function exported(app: AppControl, id: string): Promise<void> {
  const path = await app.workplace.exportSession(id);
  app.note({ sign: 'done', tone: 'success', text: `Session ${endingOf(id)} is in ${path}` });
}

async function deleted(app: AppControl, id: string): Promise<void> {
  const isOpen = app.conversation.session === id;
  if (isOpen) await app.openSession();
  await app.workplace.deleteSession(id);
  app.note({ sign: 'done', tone: 'success', text: `Session ${endingOf(id)} is deleted.` });
}

function begin(app: AppControl, act: () => Promise<void>): void {
  void act().catch((error: unknown) => app.fail(error));
}
