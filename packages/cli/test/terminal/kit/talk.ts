import { type AppBench, type AppStart, appBench } from './app-start.ts';
import { keys, takesKeys } from './keys.ts';
import type { PseudoTerminal } from './pseudo-terminal.ts';

export { keys, takesKeys };

export interface Talk extends AppBench {
  readonly terminal: PseudoTerminal;
  /** Writes a message and Enter. */
  say(text: string): void;
  /** Waits until the agent rests, leaves the app, and returns its exit code. */
  leave(): Promise<number>;
}

/** Starts the app, and waits until it takes messages. */
export async function talk(options: AppStart = {}): Promise<Talk> {
  const bench = await appBench();
  const terminal = bench.start(options);
  await terminal.shows(/new session|session …/);
  return {
    ...bench,
    terminal,
    say: (text) => terminal.write(`${text}${keys.enter}`),
    leave: async () => {
      // While the agent works, Ctrl-D would interrupt it first.
      await terminal.until('the rest of the agent', ({ lines }) => {
        const status = lines.findLast((line) => line !== '') ?? '';
        return /(\/ commands|Enter goes on)$/.test(status);
      });
      terminal.write(`${keys.ctrl('u')}${keys.ctrl('d')}`);
      return terminal.exited;
    },
  };
}
