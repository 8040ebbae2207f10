import { visibleLine } from '../base/text/visible-text.ts';

/** Warns of a lost connection, which is made again by itself. */
export function warnUnreachable(error: Error): void {
  const reason = visibleLine(error.message === '' ? error.name : error.message);
  process.emitWarning(`The event bus cannot be reached, and is tried again: ${reason}`, {
    type: 'AdjutantWarning',
    code: 'bus_unreachable',
  });
}
