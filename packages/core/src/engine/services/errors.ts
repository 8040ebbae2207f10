import { AdjutantError } from '../../base/error.ts';
import { isServiceSession } from '../../ledger/port/service-sessions.ts';

/** A session id that the app keeps for its own services. */
export class ReservedSessionError extends AdjutantError {
  constructor(data: { session: string }) {
    super(
      'reserved_session',
      `The session "${data.session}" belongs to the app itself: ids that begin with ` +
        '"service:" are kept for triggers, notices and events. Use `app.triggers`, ' +
        '`app.notifications` or `app.publish`, or choose another id.',
      data,
    );
  }
}

/**
 * Refuses the id of a session that callers may not use.
 * @throws ReservedSessionError
 */
export function assertNotReserved(session: unknown): void {
  if (typeof session === 'string' && isServiceSession(session))
    throw new ReservedSessionError({ session });
}
