import { visibleLine } from '../base/text/visible-text.ts';

/** Warns of a lost connection, which is made again by itself. */
export function warnUnreachable(error: unknown): void {
  const reason = visibleLine(reasonOf(error));
  process.emitWarning(`The event bus cannot be reached, and is tried again: ${reason}`, {
    type: 'AdjutantWarning',
    code: 'bus_unreachable',
  });
}

/** Returns the message of a failure, or its name when it has none. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
