import { systemTurns } from '../../base/turns.ts';
import type { StreamEvent } from '../../ledger/event.ts';
import type { ListOptions, ReadRange, SessionListing, StoredEvent } from '../../ledger/port.ts';
import { storedStateAt } from '../../session/fold-snapshot.ts';
import type { AnySession } from '../../session/session.ts';
import type { StateSnapshot } from '../../session/time-travel.ts';
import type { FollowOptions, LiveSessions } from '../live/live-sessions.ts';
import { ControlsSessions } from './control-methods.ts';
import { checkListOptions, sessionIdOf } from './control-options.ts';

/** The methods of a runtime that look at stored sessions, whoever works on them. */
export abstract class ReadsSessions extends ControlsSessions {
  abstract readonly app: string;
  abstract readonly tenant: string;

  /** What is being written at the moment. */
  protected abstract live(): LiveSessions;

  /**
   * A stored session as it was right after the event `seq`. Nothing is claimed: another process may
   * be working on it.
   * @param seq @default the last event
   * @throws SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError
   */
  stateAt(sessionId: string, seq?: number): Promise<StateSnapshot> {
    return storedStateAt(this.controlPorts(), sessionId, seq);
  }

  /**
   * The events of a stored session, without opening it. What this version of Adjutant cannot read
   * comes as an `unreadable` event in its place, so that also a damaged ledger and one of a newer
   * version can be looked at. Others of the process have their turn between any two of them.
   * @throws SessionNotFoundError
   */
  async *events(
    sessionId: string,
    range?: ReadRange,
  ): AsyncGenerator<StoredEvent, void, undefined> {
    for await (const page of this.controlPorts().store.readStored(sessionId, range)) {
      for (const event of page) {
        yield event;
        const turn = systemTurns.pass();
        if (turn !== undefined) await turn;
      }
    }
  }

  /**
   * What happens in a session, whoever works on it: all durable events after a place, in order and
   * without gaps, and those to come as they land; and between them, as they are written, the parts
   * of answers. Whoever comes in the middle of an answer gets a `stream_reset` and the text so far;
   * whoever reads slowly gets parts joined, and holds nobody up. A durable event takes the place of
   * the parts that it was made of. With `pubsub` the parts come from every process, without it from
   * this one only.
   * @throws InvalidRunError, SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError,
   * StoreUnavailableError
   */
  follow(
    session: AnySession | string,
    options: FollowOptions = {},
  ): AsyncGenerator<StreamEvent, void, undefined> {
    return this.live().follow(this, this.controlPorts().store, sessionIdOf(session), options);
  }

  /**
   * Keeps what runs stream from now on, so that whoever begins to follow one in the middle of an
   * answer gets what was written before. Done by `pubsub` and by the first `follow`; for servers,
   * whose clients come after the runs that they start.
   */
  keepStreamed(): void {
    this.live().keep();
  }

  /** Sessions by the time of their last event, newest first. @throws InvalidRunError */
  async list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    checkListOptions(options);
    return this.controlPorts().store.list(options);
  }
}
