import { AdjutantError } from '../base/error.ts';
import type { ToolEffect, ToolResultStatus } from '../ledger/tool-result.ts';
import type { DeclaredFailure } from '../tools/errors.ts';
import type { FailureKind } from '../tools/failure-kinds.ts';

export interface NotificationFailure {
  readonly channel: string;
  readonly notice: string;
  readonly kind: FailureKind;
  /** The fault as the end of a sentence. It holds no secret. */
  readonly reason: string;
  /** Milliseconds after which another attempt may succeed. */
  readonly retryAfterMs?: number | undefined;
  /** Addresses of the recipient that do not exist any more and should be removed. */
  readonly gone?: readonly string[];
}

/** Statuses of failures that may pass. */
const passing: ReadonlySet<ToolResultStatus> = new Set(['error_transient', 'timeout', 'unknown']);

/**
 * A notice that a channel did not send, or may have sent. `ctx.effect` records `effect`, so that a
 * notice that may have arrived is sent again only by an idempotent channel.
 */
export class NotificationFailedError extends AdjutantError implements DeclaredFailure {
  readonly channel: string;
  /** Stable name of the failure, such as `http_404`, `timeout` or `no_recipient`. */
  readonly errorType: string;
  /** True when another attempt would fail in the same way. */
  readonly permanent: boolean;
  /** `unknown` when the notice may have been sent. */
  readonly effect: ToolEffect;
  readonly retryAfterMs: number | undefined;
  readonly status: ToolResultStatus;
  /** The fault as the end of a sentence. */
  readonly reason: string;
  /** Addresses of the recipient that do not exist any more and should be removed. */
  readonly gone: readonly string[];
  readonly alternatives: readonly string[] = [];

  constructor(failure: NotificationFailure) {
    const { channel, notice, kind, reason, retryAfterMs, gone = [] } = failure;
    const { errorType, effect, status } = kind;
    const permanent = !passing.has(status);
    const subject =
      effect === 'unknown'
        ? `It is not known whether the channel "${channel}" sent the notice "${notice}"`
        : `The channel "${channel}" did not send the notice "${notice}"`;
    const advice = permanent
      ? 'Another attempt would fail in the same way: mend the cause, or take another channel.'
      : 'Another attempt may succeed.';
    super('notification_failed', `${subject}: ${reason}. ${advice}`, {
      ...{ channel, notice, errorType, permanent, effect },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(gone.length === 0 ? {} : { gone }),
    });
    this.channel = channel;
    this.errorType = errorType;
    this.permanent = permanent;
    this.effect = effect;
    this.retryAfterMs = retryAfterMs;
    this.status = status;
    this.reason = reason;
    this.gone = gone;
  }
}

/** Returns the meaning of a notice that cannot be sent as it is: nothing was sent. */
export function refusedNotice(errorType: string): FailureKind {
  return { status: 'error_permanent', errorType, effect: 'none' };
}
