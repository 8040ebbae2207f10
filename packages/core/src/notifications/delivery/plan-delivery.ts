import type { Notice } from '../notice.ts';
import { type QuietHours, sendingAllowedAt } from './quiet-hours.ts';

/** Least milliseconds between two sendings to one recipient. */
const defaultIntervalMs = 30_000;

/** The notices of one recipient that have neither been sent nor dropped. */
export interface DeliveryRequest {
  /** In the order in which they came. */
  readonly notices: readonly Notice[];
  /** Epoch milliseconds, by the clock that `expiresAt` is judged by. */
  readonly now: number;
  /** Instant of the last sending to this recipient. @default none yet */
  readonly lastSentAt?: number | undefined;
  readonly quietHours?: QuietHours | undefined;
  /** Least milliseconds between two sendings. @default 30_000 */
  readonly intervalMs?: number;
}

export type WaitingNotice = {
  readonly notice: string;
  readonly until: number;
  readonly reason: 'interval' | 'quiet_hours';
};

export type DroppedNotice = {
  readonly notice: string;
  /** `repeated`: another one has its id. */
  readonly reason: 'expired' | 'expires_in_quiet_hours' | 'repeated';
};

/** A plan in which each of the notices is in one of the three lists. */
export interface DeliveryPlan {
  /** To be sent now, joined into one. */
  readonly send: readonly Notice[];
  readonly wait: readonly WaitingNotice[];
  readonly drop: readonly DroppedNotice[];
  /** Instant at which to plan again; missing when nothing waits. */
  readonly nextAt?: number;
}

/**
 * Decides which notices of a recipient are sent now, wait or are dropped. A first notice is sent at
 * once; those that come within the interval after it are sent together. Urgent ones are sent in
 * quiet hours too. What would expire in them is dropped.
 * @throws InvalidOptionError for quiet hours that cannot be
 */
export function planDelivery(request: DeliveryRequest): DeliveryPlan {
  const { notices, now, lastSentAt, quietHours, intervalMs = defaultIntervalMs } = request;
  const send: Notice[] = [];
  const wait: WaitingNotice[] = [];
  const drop: DroppedNotice[] = [];
  const known = new Set<string>();
  const free = lastSentAt === undefined ? now : Math.max(now, lastSentAt + intervalMs);
  const loudAt = quietHours === undefined ? free : sendingAllowedAt(quietHours, free);
  for (const notice of notices) {
    const { id, urgent = false, expiresAt = Number.POSITIVE_INFINITY } = notice;
    const until = urgent ? free : loudAt;
    const isRepeated = known.has(id);
    known.add(id);
    if (isRepeated) drop.push({ notice: id, reason: 'repeated' });
    else if (expiresAt <= now) drop.push({ notice: id, reason: 'expired' });
    else if (until > free && expiresAt <= until)
      drop.push({ notice: id, reason: 'expires_in_quiet_hours' });
    else if (until <= now) send.push(notice);
    else wait.push({ notice: id, until, reason: until > free ? 'quiet_hours' : 'interval' });
  }
  return { send, wait, drop, ...nextOf(request, send, wait) };
}

/** Returns the instant at which to plan again: the first at which something changes. */
function nextOf(
  { notices, now, intervalMs = defaultIntervalMs }: DeliveryRequest,
  send: readonly Notice[],
  wait: readonly WaitingNotice[],
): { nextAt?: number } {
  if (wait.length === 0) return {};
  const waiting = new Set(wait.map(({ notice }) => notice));
  const expiries = notices
    .filter(({ id }) => waiting.has(id))
    .map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt);
  const first = Math.min(...wait.map(({ until }) => until));
  // Notices sent now hold the others back for an interval.
  const free = send.length === 0 ? first : Math.max(first, now + intervalMs);
  return { nextAt: Math.min(free, ...expiries) };
}
