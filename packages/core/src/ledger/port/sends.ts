import type { InboxItem } from './inbox-items.ts';
import type { ListedRow } from './listed-rows.ts';
import type { AdmissionLimits, TurnPatch } from './turns.ts';

/** Effects of a post besides the added item, in the same transaction. */
export interface PostOptions {
  /** Birth of the session that is meant: another one of the same name refuses with `gone`. */
  readonly birth?: string;
  /**
   * True to make the session when it does not exist. One that was made so and was deleted is not
   * made again: the post is refused with `gone`.
   * @default false
   */
  readonly open?: boolean;
  /** False when the item only informs: it makes the session neither due nor ready. @default true */
  readonly wakes?: boolean;
  readonly turn?: TurnPatch;
  /** Refuses a new turn with `queue_full` when as many wait. @default no limit */
  readonly admit?: AdmissionLimits;
  readonly rows?: readonly ListedRow[];
}

/** A message from one ledger to another, written with the batch that causes it. */
export interface Send extends PostOptions {
  /** Session of the same tenant and app. */
  readonly to: string;
  /** The item is posted under its own key, which comes from the cause and not from the delivery. */
  readonly item: InboxItem;
  /** Epoch milliseconds after which it is not delivered any more. @default never */
  readonly expiresAt?: number;
}

/** A send that has no receipt yet. */
export interface PendingSend extends Send {
  /** Session that sends. */
  readonly from: string;
  /** Place in the order of the sender's sends. */
  readonly number: number;
  /** Epoch milliseconds of its append. */
  readonly at: number;
}

export interface SendFilter {
  /** @default all sessions */
  readonly from?: string;
  /** Only sends whose append is at least so long ago. @default 0 */
  readonly olderThanMs?: number;
  /** @default 100 */
  readonly limit?: number;
}
