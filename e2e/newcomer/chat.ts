import { PseudoTerminal } from '../../packages/cli/test/terminal/kit/pseudo-terminal.ts';
import { expect } from '../expectation.ts';
import { type Answer, type PromptMessage, startModelServer } from './model-server.ts';
import { type Shell, tell } from './shell.ts';

const enter = '\r';
const interrupt = '\u0003';
const pasted = 'Who owes us money?\nSort them by amount.\nOne line for each.';

/** Words of the last message of a person in a prompt. */
function lastMessage(messages: readonly PromptMessage[]): string {
  const { content } = messages.findLast(({ role }) => role === 'user') ?? {};
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

/** The messages of a person, and the answers of the model of the conversation. */
class Story {
  /** Resolves when the model was asked for the answer in which its process is killed. */
  readonly askedLast = Promise.withResolvers<void>();
  #isKilled = false;
  readonly prompts: string[] = [];

  answer(messages: readonly PromptMessage[]): Answer {
    const said = lastMessage(messages);
    const hasResult = messages.at(-1)?.role === 'tool';
    this.prompts.push(said);
    if (said.includes('Who owes us money?'))
      return { text: 'Ben owes the most: ', until: () => Promise.race([]) };
    if (said.includes('remind')) {
      if (hasResult) return { text: 'Ben was reminded.' };
      return { call: { name: 'remind', args: { invoice: 'A-2' } } };
    }
    if (this.#isKilled) return { text: 'You are welcome.' };
    this.askedLast.resolve();
    return { text: 'You are', until: () => Promise.race([]) };
  }

  /** Tells that the process which waited for the last answer is gone. */
  killed(): void {
    this.#isKilled = true;
  }
}

/** A line of a shell in a terminal of a person. */
function inTerminal(shell: Shell, line: string, model: string): PseudoTerminal {
  const terminal = new PseudoTerminal({
    ...{ program: 'bash', args: ['-c', line], columns: 100, rows: 30, cwd: shell.cwd },
    env: { ...shell.env, ADJUTANT_MODEL: model, TERM: 'xterm-256color' },
  });
  void terminal.exited.then(() => tell(`${line}   (in a terminal)`, terminal.screen.whole));
  return terminal;
}

/**
 * A conversation in the terminal, with a paste, an interruption, an approval, the way out and back,
 * and a kill. The lines that start the app are those that programs printed.
 * @param first the line of `init` that starts the app
 */
export async function chatted(shell: Shell, first: string): Promise<void> {
  const story = new Story();
  const server = await startModelServer((messages) => story.answer(messages));
  const terminals: PseudoTerminal[] = [];
  const start = (line: string): PseudoTerminal => {
    const terminal = inTerminal(shell, line, server.modelName);
    terminals.push(terminal);
    return terminal;
  };
  try {
    const again = await talkAndLeave(start(first), story);
    if (again === undefined) return;
    const killed = start(again);
    await killed.shows('Ben was reminded.');
    expect('the last turns are there again', killed.screen.whole.includes(pasted.slice(0, 18)));
    await killed.showsNow('/ commands');
    killed.write(`Thank you${enter}`);
    await story.askedLast.promise;
    process.kill(-killed.pid, 'SIGKILL');
    await killed.exited;
    story.killed();
    await goOn(start(again));
  } finally {
    for (const terminal of terminals) terminal.close();
    server.close();
  }
}

/** Talks until a reminder has gone out. Returns the line that the app prints to come back. */
async function talkAndLeave(terminal: PseudoTerminal, story: Story): Promise<string | undefined> {
  await terminal.shows('new session');
  terminal.paste(pasted);
  await terminal.showsNow('One line for each.');
  terminal.write(enter);
  await terminal.showsNow('Ben owes the most:');
  expect('a paste of three lines is one message', story.prompts[0]?.includes(pasted) === true);
  terminal.write(interrupt);
  await terminal.shows('Interrupted by you');
  const { whole } = terminal.screen;
  expect('Ctrl-C interrupts the answer, and its begin stays', whole.includes('Ben owes the most:'));
  terminal.write(`Use remind {"invoice":"A-2"}${enter}`);
  await terminal.showsNow('y allow');
  await terminal.until('keys that act', ({ lines, top, cells }) => {
    const row = lines.findIndex((line) => line.includes('y allow'));
    return row !== -1 && cells(top + row)[2]?.bold === true;
  });
  terminal.write('y');
  await terminal.shows('Ben was reminded.');
  expect('y lets the reminder out', terminal.screen.whole.includes('allowed by you'));
  await terminal.showsNow('/ commands');
  terminal.write(interrupt);
  await terminal.showsNow('Press ^C again to leave.');
  terminal.write(interrupt);
  const code = await terminal.exited;
  expect('Ctrl-C twice leaves (exit code 0)', code === 0);
  const again = /^Continue with: (.+)$/m.exec(terminal.screen.whole)?.[1]?.trim();
  expect('the app prints the line that comes back', again !== undefined);
  return again;
}

/** Goes on with the conversation whose process was killed. */
async function goOn(terminal: PseudoTerminal): Promise<void> {
  await terminal.shows('Enter goes on');
  terminal.write(enter);
  await terminal.shows('You are welcome.');
  await terminal.showsNow('/ commands');
  const sent = terminal.screen.whole.split('✓ remind').length - 1;
  expect('the killed conversation goes on, and the reminder went out once', sent === 1);
  terminal.write('\u0004');
  expect('Ctrl-D leaves (exit code 0)', (await terminal.exited) === 0);
}
