import { checkOptions } from '../../base/invalid-option.ts';
import { longestWaitMs } from '../../base/longest-wait.ts';
import { randomFromSeed } from '../../base/random.ts';
import {
  type ResolvedRetry,
  type RetryOptions,
  resolveRetry,
  retryChecks,
  retryDelay,
} from '../../base/retry-options.ts';
import type { Channel } from '../channel.ts';
import type { NotificationFailedError } from '../errors.ts';
import type { Notice } from '../notice.ts';
import { type QuietHours, sendingAllowedAt } from './quiet-hours.ts';

/** An attempt to send a notice that has ended. */
export type SendAttempt = {
  readonly channel: string;
  /** Epoch milliseconds of its end. */
  readonly at: number;
  /** Missing when the notice was sent. */
  readonly failure?: Pick<NotificationFailedError, 'permanent' | 'effect'> & {
    readonly retryAfterMs?: number | undefined;
  };
};

export interface AttemptRequest {
  readonly notice: Pick<Notice, 'id' | 'urgent' | 'expiresAt'>;
  /** Channels in the order in which they are tried. */
  readonly channels: readonly Pick<Channel, 'name' | 'idempotent'>[];
  /** Attempts so far, from first to last. */
  readonly attempts: readonly SendAttempt[];
  readonly now: number;
  /**
   * Repetition within one channel.
   * @default 3 attempts, 5_000 ms and 20_000 ms apart
   */
  readonly retry?: RetryOptions;
  readonly quietHours?: QuietHours | undefined;
}

/**
 * Reason for which a channel is not tried again.
 * - `permanent`: another attempt would fail in the same way.
 * - `attempts`: it has had as many as it may.
 * - `may_have_arrived`: the outcome is unknown, and the channel is not idempotent.
 * - `too_late`: the notice expires before the next attempt may be made.
 * - `asked_to_wait`: it asks for a wait of more than 5 minutes.
 */
export type ChannelEnd =
  | 'permanent'
  | 'attempts'
  | 'may_have_arrived'
  | 'too_late'
  | 'asked_to_wait';

export type NextAttempt =
  | { readonly action: 'send'; readonly channel: string; readonly attempt: number }
  | {
      readonly action: 'wait';
      readonly channel: string;
      readonly until: number;
      readonly reason: 'backoff' | 'asked_to_wait' | 'quiet_hours';
    }
  | { readonly action: 'sent'; readonly channel: string }
  | {
      readonly action: 'give_up';
      readonly reason: 'expired' | 'no_channel' | 'failed' | 'may_have_arrived';
      readonly channels: readonly { readonly channel: string; readonly reason: ChannelEnd }[];
    };

const defaults: ResolvedRetry = resolveRetry({
  ...{ attempts: 3, initialDelayMs: 5_000, maxDelayMs: longestWaitMs, multiplier: 4 },
});

/**
 * Decides how a notice goes on after its attempts so far: another attempt, another channel, a wait
 * or the end. Equal arguments give the same decision.
 * @throws InvalidOptionError for retries or quiet hours that cannot be
 */
export function planAttempt(request: AttemptRequest): NextAttempt {
  const { notice, channels, attempts, now, retry = {}, quietHours } = request;
  checkOptions('planAttempt', retry, retryChecks);
  const sent = attempts.find(({ failure }) => failure === undefined);
  if (sent !== undefined) return { action: 'sent', channel: sent.channel };
  const ended: { channel: string; reason: ChannelEnd }[] = [];
  if (isOver(notice, now)) return { action: 'give_up', reason: 'expired', channels: ended };
  for (const channel of channels) {
    const next = nextOf(channel, request, resolveRetry(retry, defaults));
    if (typeof next === 'string') {
      ended.push({ channel: channel.name, reason: next });
      continue;
    }
    if (next.action !== 'send' || quietHours === undefined || notice.urgent === true) return next;
    const until = sendingAllowedAt(quietHours, now);
    if (until <= now) return next;
    if (isOver(notice, until)) return { action: 'give_up', reason: 'expired', channels: ended };
    return { action: 'wait', channel: channel.name, until, reason: 'quiet_hours' };
  }
  return { action: 'give_up', reason: reasonOf(request), channels: ended };
}

function isOver({ expiresAt }: AttemptRequest['notice'], at: number): boolean {
  return expiresAt !== undefined && expiresAt <= at;
}

/** Returns the next attempt by a channel, or the reason why there is none. */
function nextOf(
  { name, idempotent }: AttemptRequest['channels'][number],
  { notice, attempts, now }: AttemptRequest,
  retry: ResolvedRetry,
): Extract<NextAttempt, { action: 'send' | 'wait' }> | ChannelEnd {
  const made = attempts.filter(({ channel }) => channel === name);
  const last = made.at(-1);
  const attempt = made.length + 1;
  if (last?.failure === undefined) return { action: 'send', channel: name, attempt };
  const { permanent, effect, retryAfterMs = 0 } = last.failure;
  if (permanent) return effect === 'unknown' ? 'may_have_arrived' : 'permanent';
  if (effect === 'unknown' && !idempotent) return 'may_have_arrived';
  if (attempt > retry.attempts) return 'attempts';
  if (retryAfterMs > longestWaitMs) return 'asked_to_wait';
  const draw = (): number => randomFromSeed(JSON.stringify([notice.id, name, attempt]));
  const delayMs = retryDelay(retry, made.length, draw);
  const until = last.at + Math.max(delayMs, retryAfterMs);
  if (isOver(notice, until)) return 'too_late';
  if (until <= now) return { action: 'send', channel: name, attempt };
  const reason = retryAfterMs > delayMs ? 'asked_to_wait' : 'backoff';
  return { action: 'wait', channel: name, until, reason };
}

function reasonOf({
  channels,
  attempts,
}: AttemptRequest): 'no_channel' | 'failed' | 'may_have_arrived' {
  if (channels.length === 0) return 'no_channel';
  const isUnknown = attempts.some(({ failure }) => failure?.effect === 'unknown');
  return isUnknown ? 'may_have_arrived' : 'failed';
}
