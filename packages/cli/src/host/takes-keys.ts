import type { Host } from './host.ts';

/** Parts of the host that tell what its terminal is. */
export type TerminalHost = Pick<Host, 'stdin' | 'stdout' | 'env'>;

/** True for a terminal that can show the terminal app. */
export function takesKeys(host: TerminalHost): boolean {
  return isTerminal(host) && host.env['TERM'] !== 'dumb' && !host.env['CI'];
}

/** True when a person types the input and sees the output. */
export function isTerminal({ stdin, stdout }: Pick<Host, 'stdin' | 'stdout'>): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

/** True when what is shown is to be said: nothing may be painted again. */
export function isForScreenReader({ env }: TerminalHost): boolean {
  return env['INK_SCREEN_READER'] === 'true';
}
