import type { Host } from '../host/host.ts';
import { plainLine } from './plain-text.ts';
import { styleFor } from './style.ts';

/** Writes a dim line to stderr, so that it is not part of the output. */
export function notice(host: Host, text: string): void {
  host.stderr.write(`${styleFor(host.stderr).dim(`adjutant: ${plainLine(text)}`)}\n`);
}
