import type { Event, Runtime, Session } from 'adjutant';
import { SeqOutOfRangeError } from 'adjutant/errors';

/** A session with its events up to one of them. */
export interface OpenedSession {
  readonly session: Session;
  readonly events: readonly Event[];
  /** `seq` of the last of these events. */
  readonly at: number;
}

/**
 * Reads a session with its large values, for views that need its events as they are.
 * @param at `seq` of the last event @default the last one that there is
 * @throws SeqOutOfRangeError, LedgerUnreadableError
 */
export async function openedAt(
  app: Runtime,
  id: string,
  at: number | undefined,
): Promise<OpenedSession> {
  const session = await app.sessions.open({ id, observe: false });
  const { events } = session;
  const last = events.length;
  if (at === undefined || at === last) return { session, events, at: last };
  if (at > last) throw new SeqOutOfRangeError({ seq: at, last });
  return { session, events: events.slice(0, at), at };
}
