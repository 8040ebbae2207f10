import type { Host } from './host.ts';

/** True for a terminal that can show the terminal app. */
export function takesKeys(host: Host): boolean {
  return isTerminal(host) && host.env['TERM'] !== 'dumb' && !host.env['CI'];
}

/** True when a person types the input and sees the output. */
export function isTerminal({ stdin, stdout }: Pick<Host, 'stdin' | 'stdout'>): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}
