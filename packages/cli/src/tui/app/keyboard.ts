import type { RunContext } from '../../actions/carry-out.ts';
import { inputDueAt, noInput, readChunk, readTimeout } from '../editor/input.ts';
import type { TerminalApp } from './terminal-app.ts';

/** Reads the keyboard. Returns a function that ends it. */
export function listenToKeys(
  { host, interruption }: RunContext,
  app: TerminalApp,
  onFault: (error: unknown) => void,
): () => void {
  const { stdin, clock } = host;
  let state = noInput;
  let timer: NodeJS.Timeout | undefined;
  const take = (reading: ReturnType<typeof readChunk>): void => {
    state = reading.state;
    try {
      for (const input of reading.inputs) app.input(input);
    } catch (error) {
      onFault(error);
    }
    clearTimeout(timer);
    const due = inputDueAt(state);
    if (due === undefined) return;
    const wait = Math.max(0, due - clock.now());
    timer = setTimeout(() => take(readTimeout(state, clock.now())), wait + 1);
  };
  const onData = (chunk: string | Buffer): void =>
    take(readChunk(state, String(chunk), clock.now()));
  // In raw mode no key ends the input: the terminal is gone.
  const onEnd = (): void => interruption.interrupt('SIGHUP');
  stdin.on('data', onData).on('end', onEnd);
  return () => {
    clearTimeout(timer);
    stdin.off('data', onData).off('end', onEnd);
  };
}
