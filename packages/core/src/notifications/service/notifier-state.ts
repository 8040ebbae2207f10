import type { JsonObject } from '../../base/json.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import type { Event } from '../../ledger/event.ts';
import type { SendAttempt } from '../delivery/plan-attempt.ts';
import type { Notice } from '../notice.ts';

/** A notice that has come in, with the channels that it is meant for. */
export type AcceptedNotice = Notice & {
  /** @default all of the app */
  readonly channels?: readonly string[];
};

/** Notices that are being sent together. */
export interface Sending {
  readonly key: string;
  readonly notices: readonly string[];
  readonly attempts: readonly SendAttempt[];
  /** Channel of an attempt whose end is not recorded: its process has ended during it. */
  readonly open?: string;
}

/** State of the notices of one recipient, as plain JSON. */
export interface NotifierState {
  /** Neither sent nor dropped, in the order in which they came. */
  readonly waiting: readonly AcceptedNotice[];
  /** The one whose attempt was the last. */
  readonly sending?: Sending;
  /** Others that have begun, and wait for their next attempt. */
  readonly held?: readonly Sending[];
  readonly lastSentAt?: number;
}

/** All that are being sent; only the first one may have an open attempt. */
export function sendingsOf({ held = [], sending }: NotifierState): readonly Sending[] {
  return sending === undefined ? [] : [sending, ...held];
}

function withSendings(
  { held: _, sending: __, ...state }: NotifierState,
  [sending, ...held]: readonly Sending[],
): NotifierState {
  if (sending === undefined) return state;
  return { ...state, sending, ...(held.length === 0 ? {} : { held }) };
}

/** State before all events. */
export const noNotices: NotifierState = { waiting: [] };

/** Folds the ledger of a recipient, or the events that come after a state. */
export function notifierState(events: Iterable<Event>, before = noNotices): NotifierState {
  let state = before;
  for (const event of events) state = folded(state, event);
  return state;
}

function folded(state: NotifierState, event: Event): NotifierState {
  if (isDecision(event, 'service', 'begin'))
    return event.data?.state === undefined ? state : (event.data.state as unknown as NotifierState);
  if (event.type !== 'decision' || event.data === undefined) return state;
  if (isDecision(event, 'notifier', 'accept')) {
    const notice = event.data.notice as unknown as AcceptedNotice;
    return { ...state, waiting: [...state.waiting, notice] };
  }
  if (isDecision(event, 'notifier', 'attempt')) {
    const { channel, key, notices } = event.data;
    const sendings = sendingsOf(state);
    const attempts = sendings.find((one) => one.key === key)?.attempts ?? [];
    const others = sendings.filter((one) => one.key !== key);
    return withSendings(state, [{ key, notices, attempts, open: channel }, ...others]);
  }
  if (isDecision(event, 'notifier', 'fail')) return failed(state, event.at, event.data);
  if (isDecision(event, 'notifier', 'send'))
    return { ...without(state, event.data.notices), lastSentAt: event.at };
  if (isDecision(event, 'notifier', 'drop')) return without(state, event.data.notices);
  return state;
}

function failed(state: NotifierState, at: number, data: JsonObject): NotifierState {
  if (state.sending === undefined) return state;
  const { open: _, ...sending } = state.sending;
  const { channel, effect, permanent, retryAfterMs } = data as unknown as {
    readonly channel: string;
    readonly effect: 'none' | 'unknown';
    readonly permanent: boolean;
    readonly retryAfterMs?: number;
  };
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const attempt: SendAttempt = { channel, at, failure: { permanent, effect, ...wait } };
  return { ...state, sending: { ...sending, attempts: [...sending.attempts, attempt] } };
}

/** Notices that are settled; a sending that has none left is over. */
function without(state: NotifierState, notices: readonly string[]): NotifierState {
  const gone = new Set(notices);
  const sendings = sendingsOf(state).flatMap((sending) => {
    const left = sending.notices.filter((id) => !gone.has(id));
    return left.length === 0 ? [] : [{ ...sending, notices: left }];
  });
  const waiting = state.waiting.filter(({ id }) => !gone.has(id));
  return withSendings({ ...state, waiting }, sendings);
}
