import type { EventOf } from 'adjutant';
import type { AppControl, SlashCommand } from '../app/control.ts';

const copy: SlashCommand = {
  name: 'copy',
  words: '[n]',
  summary: 'the last answer, or the nth from the end, to the clipboard',
  run(app, words) {
    const number = words === '' ? 1 : Number(words);
    const answers = app.events.filter(isAnswer);
    const found = Number.isSafeInteger(number) ? answers.at(-number) : undefined;
    if (found === undefined || number < 1) {
      const text =
        answers.length === 0
          ? 'There is no answer yet.'
          : `There is no answer ${words}: there are ${answers.length}.`;
      app.note({ sign: 'failed', tone: 'failure', text });
      return;
    }
    app.copy(found.text);
    const text = `Copied the answer #${found.seq}, ${found.text.length} characters.`;
    app.note({ sign: 'done', tone: 'success', text });
  },
};

function isAnswer(event: AppControl['events'][number]): event is EventOf<'assistant'> {
  return event.type === 'assistant' && event.text !== '';
}

const exportCommand: SlashCommand = {
  name: 'export',
  words: '[file]',
  summary: 'this session as a file, without secrets',
  async run(app, words) {
    const { session } = app.conversation;
    if (session === undefined || app.events.length === 0) {
      app.note({ sign: 'note', tone: 'plain', text: 'The session has no events yet.' });
      return;
    }
    const file = await app.workplace.exportSession(session, words === '' ? undefined : words);
    app.note({ sign: 'done', tone: 'success', text: `The session is in ${file}` });
  },
};

/** Commands that give what was said to other programs. */
export const textCommands: readonly SlashCommand[] = [copy, exportCommand];
