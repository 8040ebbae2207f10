import type { SessionListing } from 'adjutant';
import { formatMoment } from '../../output/format.ts';
import type { AppControl, Choice, SlashCommand } from '../app/control.ts';
import { gutterSign, lineSpans, toned } from '../screens/layout.ts';
import { endingOf } from '../session/workplace.ts';
import type { SignName } from '../text/signs.ts';

const newSession: SlashCommand = {
  name: 'new',
  words: '',
  summary: 'begin a new session',
  waitsForAgent: true,
  run: (app) => app.openSession(),
};

const clear: SlashCommand = {
  name: 'clear',
  words: '',
  summary: 'a new session and a clean screen; the old one stays',
  waitsForAgent: true,
  async run(app) {
    const { session } = app.conversation;
    app.clearScreen();
    if (app.events.length > 0 && session !== undefined)
      app.note({
        sign: 'note',
        tone: 'plain',
        text: `Session ${endingOf(session)} is kept: ${session}`,
      });
    await app.openSession();
  },
};

const sessions: SlashCommand = {
  name: 'sessions',
  words: '[words]',
  summary: 'choose a session to open',
  waitsForAgent: true,
  async run(app, words) {
    const found = await app.workplace.listSessions(words);
    if (found.length === 0) {
      app.note({ sign: 'note', tone: 'plain', text: 'There are no sessions yet.' });
      return;
    }
    app.choose(
      'sessions',
      found.map((listing) => sessionChoice(app, listing)),
    );
  },
};

const statusSigns: Readonly<
  Record<string, [SignName, 'attention' | 'failure' | 'success' | 'plain']>
> = {
  awaiting_input: ['asks', 'attention'],
  error: ['failed', 'failure'],
  completed: ['done', 'success'],
};

function sessionChoice(app: AppControl, listing: SessionListing): Choice {
  const { id, title = '', runnable = '', status, updatedAt } = listing;
  const [signName, tone] = statusSigns[status] ?? ['waiting', 'plain'];
  const when = formatMoment(updatedAt, Date.now());
  return {
    text: `${title} ${runnable} ${id}`,
    line: [
      gutterSign(signName, toned(tone), { columns: 80, ascii: false }),
      ...lineSpans(title === '' ? id : title.slice(0, 40)),
      ...lineSpans(`  ${runnable}  ${status.replaceAll('_', ' ')}  ${when}  ${endingOf(id)}`, {
        dim: true,
      }),
    ],
    take: () => void app.openSession(id).catch(() => undefined),
  };
}

const resume: SlashCommand = {
  name: 'resume',
  words: '[session]',
  summary: 'open another session by its id or the end of it',
  waitsForAgent: true,
  async run(app, words) {
    if (words === '') app.conversation.resume();
    else await app.openSession(await app.workplace.findSession(words));
  },
};

const fork: SlashCommand = {
  name: 'fork',
  words: '[seq]',
  summary: 'go another way from an event of this session',
  waitsForAgent: true,
  async run(app, words) {
    const at = words === '' ? undefined : Number(words.replace(/^#/, ''));
    if (at !== undefined && !(Number.isSafeInteger(at) && at >= 0)) {
      const text = `${words} is no number of an event: there are ${app.events.length}.`;
      app.note({ sign: 'failed', tone: 'failure', text });
      return;
    }
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
  },
};

/** The calls up to an event that had results, counted by their names. */
function effectsUpTo(app: AppControl, seq: number): string {
  const counts = new Map<string, number>();
  for (const event of app.events)
    if (event.seq <= seq && event.type === 'tool_result' && event.settled && event.attempt > 0)
      counts.set(event.name, (counts.get(event.name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}

const agent: SlashCommand = {
  name: 'agent',
  words: '[name]',
  summary: 'who answers next',
  waitsForAgent: true,
  run(app, words) {
    const { agents } = app.workplace;
    const take = (one: (typeof agents)[number]): void => {
      app.workplace.agent = one;
      app.note({ sign: 'arrow', tone: 'plain', text: `${one.name} answers from here on` });
    };
    const named = agents.find(({ name }) => name === words);
    if (named !== undefined) {
      take(named);
      return;
    }
    if (words !== '') {
      const names = agents.map(({ name }) => name).join(', ');
      const text = `There is no agent ${words}. There are ${names}.`;
      app.note({ sign: 'failed', tone: 'failure', text });
      return;
    }
    app.choose(
      'agents',
      agents.map((one) => ({
        text: one.name,
        line: [...lineSpans(one.name), ...lineSpans(`  ${one.description ?? ''}`, { dim: true })],
        take: () => take(one),
      })),
    );
  },
};

function lastModel({ events }: AppControl): string | undefined {
  return events.findLast((event) => event.type === 'model_start')?.model;
}

const model: SlashCommand = {
  name: 'model',
  words: '',
  summary: 'which model answers',
  run(app) {
    const { agent: who } = app.workplace;
    const name = who.model ?? (who.kind === 'agent' ? lastModel(app) : undefined);
    const unknown =
      who.kind === 'agent'
        ? `The model of ${who.name} is told with its first answer.`
        : `${who.name} is no agent with a model of its own.`;
    const text = name === undefined ? unknown : `${who.name} thinks with ${name}.`;
    app.note({ sign: 'model', tone: 'plain', text });
  },
};

/** Commands about sessions, and who works in them. */
export const sessionCommands: readonly SlashCommand[] = [
  model,
  agent,
  sessions,
  newSession,
  resume,
  fork,
  clear,
];
