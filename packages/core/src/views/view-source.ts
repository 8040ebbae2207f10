import { InvalidOptionError } from '../base/invalid-option.ts';
import { describeValue } from '../base/options.ts';
import type { Event } from '../ledger/event.ts';
import type { AnySession } from '../session/session.ts';

/**
 * The events that a view reads: those of a session, or the given list.
 * @throws InvalidOptionError for anything else
 */
export function sourceOf(
  view: string,
  source: AnySession | readonly Event[],
): {
  readonly events: readonly Event[];
  readonly resolve: (value: unknown) => unknown;
  readonly session: string | undefined;
} {
  if (Array.isArray(source))
    return { events: source, resolve: (value) => value, session: undefined };
  const session = source as Partial<AnySession> | null | undefined;
  if (session?.events === undefined || session.ledger === undefined) {
    throw new InvalidOptionError({
      function: view,
      reason: `it needs a session or a list of events, not ${describeValue(source)}`,
    });
  }
  return { events: session.events, resolve: session.ledger.resolve, session: session.id };
}
