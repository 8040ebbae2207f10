import type { JsonObject } from '../../base/json.ts';
import type { Actor } from '../event.ts';

/** A message from any other process to the writer of a ledger. */
export interface InboxItem {
  /** Two items with one key are one item. */
  readonly key: string;
  /** `control` is drained before `input`. */
  readonly lane: 'control' | 'input';
  readonly by: Actor;
  readonly at: number;
  readonly type:
    | 'user'
    | 'tool_input'
    | 'cancel'
    | 'pause'
    | 'interrupt'
    | 'withdraw_standing'
    | 'task_control'
    | 'child_end'
    | 'service'
    | 'dead_letter'
    | 'wake'
    | 'token_refused'
    | 'notified'
    | 'grant'
    | 'revoke';
  readonly data: JsonObject;
  /**
   * Id of the pending request that this item answers: the post fails unless it is still pending.
   */
  readonly settles?: string;
}

/** An item in the inbox; `position` is its place in the order of posting. */
export interface InboxEntry extends InboxItem {
  readonly position: number;
}
