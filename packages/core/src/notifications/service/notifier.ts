import { contentHash } from '../../base/hash.ts';
import type { JsonObject } from '../../base/json.ts';
import { isObject } from '../../base/options.ts';
import type { RetryOptions } from '../../base/retry-options.ts';
import { limitedCall } from '../../engine/services/limited-call.ts';
import type { ServiceHost } from '../../engine/services/service.ts';
import type { ServiceSession, ServiceStep } from '../../engine/services/service-session.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { InboxEntry } from '../../ledger/port.ts';
import type { Channel, SendReceipt } from '../channel.ts';
import { joinNotices } from '../delivery/join-notices.ts';
import { planAttempt } from '../delivery/plan-attempt.ts';
import { planDelivery } from '../delivery/plan-delivery.ts';
import { isQuiet, type QuietHours } from '../delivery/quiet-hours.ts';
import { NotificationFailedError } from '../errors.ts';
import type { Notice, Recipient } from '../notice.ts';
import { abortedBefore } from '../send-notice.ts';
import { noticeOf } from './incoming-notice.ts';
import {
  type AcceptedNotice,
  type NotifierState,
  noNotices,
  notifierState,
  type Sending,
  sendingsOf,
} from './notifier-state.ts';

/** Longest time of one attempt, in milliseconds; most channels have a shorter limit. */
const longestSendMs = 300_000;

/** Settings of all notifiers of an app. */
export interface NotifierSettings {
  readonly channels: readonly Channel[];
  readonly intervalMs?: number | undefined;
  readonly retry?: RetryOptions | undefined;
  readonly quietHours?: QuietHours | ((recipient: Recipient) => QuietHours | undefined) | undefined;
}

/** The next append, or the instant of the next look; `null` when there is none. */
type Next = { readonly step: ServiceStep } | { readonly until: number | null };

/** Writer of the notices of one recipient, while this process holds their ledger. */
export class Notifier {
  readonly #session: ServiceSession;
  readonly #settings: NotifierSettings;
  readonly #host: ServiceHost;

  constructor(session: ServiceSession, settings: NotifierSettings, host: ServiceHost) {
    this.#session = session;
    this.#settings = settings;
    this.#host = host;
  }

  /** Sends all that may be sent now. Returns the instant of the next look. */
  async advance(): Promise<number | null> {
    const session = this.#session;
    let [state, seen]: [NotifierState, number] = [noNotices, 0];
    for (;;) {
      state = notifierState(session.events(seen), state);
      seen = session.ledger.events.length;
      if (session.signal.aborted) return null;
      const next = await this.#next(state);
      if ('until' in next) return next.until;
      await session.append(next.step);
    }
  }

  async #next(state: NotifierState): Promise<Next> {
    const entry = await this.#session.nextItem(() => false);
    if (entry !== undefined) return { step: { ...this.#accepted(entry), consumes: [entry] } };
    const sendings = sendingsOf(state);
    const { failed, quietHours } = this.#hours(state);
    const waits: (number | null)[] = [];
    for (const sending of sendings) {
      if (failed !== undefined && !isOpenOrUrgent(sending, state)) continue;
      const next = await this.#attempt(state, sending, quietHours);
      if ('step' in next) return next;
      waits.push(next.until);
    }
    // Notices that wait for another attempt, or in quiet hours, hold back no urgent one. Nor do
    // quiet hours that cannot be known.
    const begun = new Set(sendings.flatMap(({ notices }) => notices));
    const waiting = state.waiting.filter(
      ({ id, urgent }) =>
        !begun.has(id) && ((begun.size === 0 && failed === undefined) || urgent === true),
    );
    const next = await this.#plan({ ...state, waiting }, quietHours);
    if ('step' in next) return next;
    const until = firstOf([...waits, next.until]);
    if (failed !== undefined && until === null) throw failed.error;
    return { until };
  }

  #accepted(entry: InboxEntry): ServiceStep {
    const notice = noticeOf(entry, this.#session.tenant);
    if (notice === undefined) return {};
    const reasoning = `The notice "${notice.title}" came in.`;
    const data = { notice: notice as unknown as JsonObject & { readonly id: string } };
    return { drafts: [decision('notifier', 'accept', { reasoning, data })] };
  }

  /** Decides which notices are sent together next. */
  async #plan(
    { lastSentAt, waiting }: NotifierState,
    quietHours: QuietHours | undefined,
  ): Promise<Next> {
    if (waiting.length === 0) return { until: null };
    const now = this.#session.now();
    const { intervalMs } = this.#settings;
    const plan = planDelivery({
      ...{ notices: waiting, now, lastSentAt, quietHours },
      ...(intervalMs === undefined ? {} : { intervalMs }),
    });
    const drafts = plan.drop.map(({ notice, reason }) => dropped([notice], reason));
    if (drafts.length > 0) return { step: { drafts } };
    const sendable = plan.send as readonly AcceptedNotice[];
    // Those for other channels are sent the next time.
    const channels = JSON.stringify(sendable[0]?.channels);
    const together = sendable.filter((one) => JSON.stringify(one.channels) === channels);
    if (together.length === 0) return { until: plan.nextAt ?? null };
    const ids = together.map(({ id }) => id);
    return this.#attempt(
      { waiting, ...(lastSentAt === undefined ? {} : { lastSentAt }) },
      {
        ...{ key: contentHash([this.#session.id, ids]), notices: ids, attempts: [] },
      },
      quietHours,
    );
  }

  /** Makes the next attempt of a sending, or ends it. */
  async #attempt(
    state: NotifierState,
    sending: Sending,
    quietHours: QuietHours | undefined,
  ): Promise<Next> {
    const { attempts, key, notices, open } = sending;
    const given = state.waiting.filter(({ id }) => notices.includes(id));
    const over = await this.#over(given);
    if (over.length > 0 && open === undefined) return { step: { drafts: over } };
    const [first] = given;
    if (first === undefined) return { step: { drafts: [dropped(notices, 'gone')] } };
    const channels = this.#channelsOf(first);
    const single = given.map(({ channels: _, ...notice }) => notice as Notice);
    if (open !== undefined) return this.#afterInterruption(sending, single, channels);
    const joined = joinNotices(single);
    const { retry } = this.#settings;
    const next = planAttempt({
      ...{ notice: joined, channels, attempts, now: this.#session.now() },
      quietHours,
      ...(retry === undefined ? {} : { retry }),
    });
    switch (next.action) {
      case 'wait':
        return { until: next.until };
      case 'give_up':
        return { step: { drafts: [dropped(notices, next.reason)] } };
      case 'sent':
        return { step: { drafts: [dropped(notices, 'sent')] } };
      case 'send': {
        const channel = channels.find(({ name }) => name === next.channel) as Channel;
        const reasoning = `Attempt ${next.attempt} by the channel "${channel.name}".`;
        await this.#session.append({
          drafts: [
            decision('notifier', 'attempt', {
              reasoning,
              data: { channel: channel.name, notices, key },
            }),
          ],
        });
        return { step: { drafts: [await this.#send(channel, single, notices, key)] } };
      }
    }
  }

  /**
   * Goes on after a process ended during an attempt: the same attempt again where the channel is
   * idempotent, else a failure with an unknown outcome.
   */
  async #afterInterruption(
    { key, notices, open }: Sending,
    single: readonly Notice[],
    channels: readonly Channel[],
  ): Promise<Next> {
    const channel = channels.find(({ name }) => name === open);
    if (channel?.idempotent === true)
      return { step: { drafts: [await this.#send(channel, single, notices, key)] } };
    return {
      step: {
        drafts: [
          decision('notifier', 'fail', {
            reasoning: 'The process ended during the attempt; the notice may have been sent.',
            data: {
              ...{ channel: open ?? '', notices, errorType: 'interrupted' },
              ...{ permanent: true, effect: 'unknown' },
            },
          }),
        ],
      },
    };
  }

  async #send(
    channel: Channel,
    single: readonly Notice[],
    notices: readonly string[],
    key: string,
  ): Promise<EventDraft> {
    const { clock, host } = this.#host;
    const limits = { clock, host, signal: this.#session.signal, limitMs: longestSendMs };
    try {
      const rendered = joinNotices(await Promise.all(single.map((one) => this.#rendered(one))));
      if (this.#session.signal.aborted) throw abortedBefore(channel.name, rendered);
      const receipt: Partial<SendReceipt> | undefined = await limitedCall(
        (signal) => channel.send(rendered, { signal, idempotencyKey: key }),
        { ...limits, what: 'sending' },
      );
      return decision('notifier', 'send', {
        reasoning: `The channel "${channel.name}" has taken it.`,
        data: {
          ...{ channel: channel.name, notices },
          // Of channels of the app's own, which may return anything.
          ...(typeof receipt?.messageId === 'string' ? { messageId: receipt.messageId } : {}),
        },
      });
    } catch (error) {
      return failure(channel.name, notices, error);
    }
  }

  /** Adds what is true at the moment of sending only: the link to a request. */
  async #rendered(notice: Notice): Promise<Notice> {
    const request = notice.about?.request;
    if (request === undefined) return notice;
    const url = await this.#host.requestLink(this.#session.tenant, request);
    if (url === undefined) return notice;
    return { ...notice, actions: [...(notice.actions ?? []), { label: 'Decide', url }] };
  }

  /** Notices that need not be sent any more: their request is settled, their session is gone. */
  async #over(notices: readonly AcceptedNotice[]): Promise<readonly EventDraft[]> {
    const { store } = this.#session;
    const over: EventDraft[] = [];
    const now = this.#session.now();
    for (const { about, expiresAt = Number.POSITIVE_INFINITY, id } of notices) {
      // One that was joined with others may expire before them.
      if (expiresAt <= now) over.push(dropped([id], 'expired'));
      if (about === undefined || expiresAt <= now) continue;
      if ((await store.head(about.session)) === undefined) {
        over.push(dropped([id], 'session_gone'));
        continue;
      }
      if (about.request === undefined) continue;
      const { request: requestId, session } = about;
      const rows = await store.requests({ requestId, session, status: 'pending', limit: 1 });
      if (rows.length === 0) over.push(dropped([id], 'request_settled'));
    }
    return over;
  }

  #channelsOf({ channels: names }: AcceptedNotice): readonly Channel[] {
    const { channels } = this.#settings;
    if (names === undefined) return channels;
    return names.flatMap((name) => channels.find((one) => one.name === name) ?? []);
  }

  /** Quiet hours of the recipient, or the error of the function that should know them. */
  #hours({ waiting: [first] }: NotifierState): {
    readonly quietHours?: QuietHours | undefined;
    readonly failed?: { readonly error: unknown };
  } {
    const { quietHours } = this.#settings;
    if (typeof quietHours !== 'function') return { quietHours };
    if (first === undefined) return {};
    try {
      const found = quietHours({ tenant: this.#session.tenant, user: first.user });
      // Hours that cannot be are refused here.
      if (found !== undefined) isQuiet(found, 0);
      return { quietHours: found };
    } catch (error) {
      return { failed: { error } };
    }
  }
}

/** True for a sending that is not held back by quiet hours. */
function isOpenOrUrgent({ notices, open }: Sending, { waiting }: NotifierState): boolean {
  const isUrgent = waiting.some(({ id, urgent }) => urgent === true && notices.includes(id));
  return open !== undefined || isUrgent;
}

function firstOf(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function dropped(notices: readonly string[], reason: string): EventDraft {
  return decision('notifier', 'drop', {
    reasoning: `Not sent: ${reason.replaceAll('_', ' ')}.`,
    data: { notices, reason },
  });
}

function failure(channel: string, notices: readonly string[], error: unknown): EventDraft {
  const known = error instanceof NotificationFailedError ? error : undefined;
  // The message of another error may hold what the channel works with.
  const name = isObject(error) === undefined ? (error as { name?: string }).name : undefined;
  const reasoning = known?.message ?? `The channel "${channel}" threw (${name ?? 'no error'}).`;
  const retryAfterMs = known?.retryAfterMs;
  return decision('notifier', 'fail', {
    reasoning,
    data: {
      ...{ channel, notices, errorType: known?.errorType ?? 'channel_failed' },
      ...{ permanent: known?.permanent ?? false, effect: known?.effect ?? 'unknown' },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  });
}
