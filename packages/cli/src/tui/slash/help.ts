import type { SlashCommand } from '../app/control.ts';
import { unknownCommand } from '../editor/commands.ts';
import type { Line } from '../text/spans.ts';

const keys: readonly string[] = [
  'Enter send   ^J new line   Esc interrupt   ^C^C leave',
  '↑ former messages   ^R search them   ^P palette   Esc Esc go back to a message',
  '^X trace   ^O whole output   PgUp what was said   Tab answer a request',
  '^L clear   ^U ^K ^W kill   ^Y yank   ^_ undo   Alt-B Alt-F words',
  '/ commands   //… sends a text that begins with /   /help show: one',
];

/** Makes `/help`. @param commands returns all commands, of which it is one itself */
export function helpCommand(commands: () => readonly SlashCommand[]): SlashCommand {
  return {
    name: 'help',
    words: '[command]',
    summary: 'keys and commands',
    run(app, words) {
      const name = words.replace(/^\//, '');
      const found = commands().find((one) => one.name === name);
      if (name !== '' && found === undefined) {
        const text = unknownCommand(
          name,
          commands().map((one) => one.name),
        );
        app.note({ sign: 'failed', tone: 'failure', text });
        return;
      }
      const shown = found === undefined ? commands() : [found];
      const head: Line[] = found === undefined ? keys.map((text) => [{ text: `  ${text}` }]) : [];
      app.print(() => [...head, ...shown.map(commandLine)]);
    },
  };
}

function commandLine({ name, words, summary, waitsForAgent }: SlashCommand): Line {
  const waits = waitsForAgent === true ? ' (not while the agent works)' : '';
  return [
    { text: `  ${`/${name} ${words}`.padEnd(24)}`, bold: true },
    { text: `${summary}${waits}`, dim: true },
  ];
}
