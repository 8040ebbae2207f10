import type { AppControl, SlashCommand } from '../app/control.ts';
import { lineSpans } from '../screens/layout.ts';
import { endingOf } from '../session/workplace.ts';
import { forkAt } from './fork.ts';
import { chooseModel, pickModel } from './model-picker.ts';
import { pickOwnMessage } from './own-messages.ts';
import { pickSession } from './session-picker.ts';

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
  run: (app, words) => pickSession(app, words),
};

const resume: SlashCommand = {
  name: 'resume',
  words: '[session]',
  summary: 'open another session by its id or the end of it',
  waitsForAgent: true,
  async run(app, words) {
    const { runState } = app.feed;
    if (words !== '') await app.openSession(await app.workplace.findSession(words));
    else if (runState === 'idle' || runState === 'failed')
      app.note({ sign: 'note', tone: 'plain', text: 'No run waits to go on.' });
    else app.conversation.resume();
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
    await forkAt(app, at);
  },
};

const back: SlashCommand = {
  name: 'back',
  words: '',
  summary: 'go back before a message of yours, and change it',
  waitsForAgent: true,
  run: (app) => pickOwnMessage(app),
};

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
  words: '[name]',
  summary: 'which model answers, from the next message on',
  async run(app, words) {
    if (words !== '') return chooseModel(app, words);
    const models = await app.workplace.listModels();
    if (models.length > 0) return pickModel(app, models);
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
  back,
  clear,
];
