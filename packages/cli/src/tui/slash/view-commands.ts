import type { AppControl, SlashCommand } from '../app/control.ts';
import { modelCallsOf, openPrompt, openState, openTrace } from '../full-screen/session-views.ts';
import { eventAt } from './look-commands.ts';

const trace: SlashCommand = {
  name: 'trace',
  words: '[seq]',
  summary: 'all events, with their details',
  run(app, words) {
    if (words === '') {
      openTrace(app);
      return;
    }
    const event = eventAt(app, words);
    if (event !== undefined) openTrace(app, { seq: event.seq });
  },
};

const prompt: SlashCommand = {
  name: 'prompt',
  words: '[n]',
  summary: 'the exact prompt of a model call, by default of the last one',
  run(app, words) {
    const calls = modelCallsOf(app);
    const start = words === '' ? calls.near(app.session.index.length - 1) : calls.at(Number(words));
    if (start !== undefined) {
      openPrompt(app, start);
      return;
    }
    const { count } = calls;
    const are = count === 1 ? 'there is 1 model call' : `there are ${count} model calls`;
    refuse(app, words === '' ? 'No model has been asked yet.' : `${words}: ${are}.`);
  },
};

const statePattern = /^(?:(?!at\b)(\S+))?\s*(?:at\s+#?(\d+))?$/;

const state: SlashCommand = {
  name: 'state',
  words: '[key] [at seq]',
  summary: 'the state after any event, and what was done up to there',
  async run(app, words) {
    const found = statePattern.exec(words);
    if (found === null) {
      refuse(app, `/state takes a key and a place: /state ${words.split(' ')[0]} at 84.`);
      return;
    }
    const [, key, at] = found;
    const event = at === undefined ? app.events.at(-1) : eventAt(app, at);
    if (event === undefined) {
      if (at === undefined) refuse(app, 'There is no state yet: nothing has happened.');
      return;
    }
    if (key === undefined || (await hasKey(app, event.seq, key))) openState(app, event.seq, key);
  },
};

/** Checks whether the state has a key. Says which ones there are when it has not. */
async function hasKey(app: AppControl, seq: number, key: string): Promise<boolean> {
  const snapshot = await app.conversation.stateAt(seq);
  const keys = Object.entries(snapshot).flatMap(([name, values]) =>
    name.endsWith('State') ? Object.keys(values as object) : [],
  );
  if (keys.includes(key)) return true;
  const there = keys.length === 0 ? 'There is none' : `There are ${keys.join(', ')}`;
  refuse(app, `The state has no key ${key} at #${seq}. ${there}.`);
  return false;
}

const log: SlashCommand = {
  name: 'log',
  words: '',
  summary: 'what was logged meanwhile, by level',
  run: (app) => openTrace(app, { mode: 'l' }),
};

function refuse(app: AppControl, text: string): void {
  app.note({ sign: 'failed', tone: 'failure', text });
}

/** Commands that open views of the whole screen. */
export const viewCommands: readonly SlashCommand[] = [trace, prompt, state, log];
