import type { AbortReason } from '../../../base/cancel-scope.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { InboxEntry } from '../../../ledger/port.ts';
import type { ItemOutcome } from './item.ts';

/** The draft of a message. */
export type MessageDraft = Extract<EventDraft, { readonly type: 'user' }>;

/** The part of a run that the inbox acts on. */
export interface InboxTarget {
  readonly ledger: Ledger;
  readonly runId: string;
  readonly lane: string;
  /** True while something of the run is open and can get messages or be cancelled. */
  readonly isOpen: () => boolean;
  /**
   * True when everything in the run waits and it is about to release the session. New items are
   * then left to the next turn. @default never
   */
  readonly isReleasing?: () => boolean;
  /** Position up to which pauses are ignored: a caller resumed the run after them. @default 0 */
  readonly ignoresPausesUpTo?: number;
  /**
   * Reads a message to the run as the answer to a waiting call. Resolves to `undefined` when it
   * answers none. @default no message is an answer
   */
  answerOf?(entry: InboxEntry, message: MessageDraft): Promise<ItemOutcome | undefined>;
  /** Called when an item has come that is left to the next turn. */
  late?(): void;
  /** True when this process can begin a run of the runnable with this name. @default none */
  mayBegin?(runnable: string): boolean;
  /** Called when items were left to runs of other lanes. */
  addressed?(): void;
  cancel(reason: AbortReason): void;
  pause(): void;
  interrupt(): void;
  /** Ends the round and gives the place of the run to other tasks. @default nothing to end */
  suspend?(): void;
}
