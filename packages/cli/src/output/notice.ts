import type { Host } from '../host/host.ts';
import { plainLine } from './plain-text.ts';
import { styleFor } from './style.ts';

/**
 * Writes a dim line to stderr, so that it is not part of the output. A quiet host leaves it out.
 */
export function notice(host: Host, text: string): void {
  if (host.isQuiet === true) return;
  host.stderr.write(`${styleFor(host.stderr).dim(`adjutant: ${plainLine(text)}`)}\n`);
}
