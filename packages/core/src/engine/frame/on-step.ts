import type { Event } from '../../ledger/event.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Session } from '../../session/session.ts';

/** Called with the events that a round of an agent, or another invocation, added to the ledger. */
export type OnStep = (
  events: readonly Event[],
  session: Session,
  runnable: Runnable,
) => void | Promise<void>;
