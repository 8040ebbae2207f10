import type { Notice } from './notice.ts';

/** Port of a way to reach people. */
export interface Channel {
  /** Name of the channel, unique among the channels of an app. */
  readonly name: string;
  /** True when a notice that is sent twice under one key reaches the recipient once. */
  readonly idempotent: boolean;
  /**
   * Sends a notice.
   * @throws NotificationFailedError, which says whether another attempt may succeed, and whether
   * the notice may have been sent all the same
   */
  send(notice: Notice, context: SendContext): Promise<SendReceipt>;
}

/** Circumstances of one attempt to send. */
export interface SendContext {
  readonly signal: AbortSignal;
  /** Key of the sending, the same in each attempt. */
  readonly idempotencyKey: string;
}

/** Proof that the other side has taken a notice. */
export type SendReceipt = {
  readonly channel: string;
  /** Id that the other side has given to the message. */
  readonly messageId?: string;
  /** Addresses of the recipient that do not exist any more and should be removed. */
  readonly gone?: readonly string[];
};
