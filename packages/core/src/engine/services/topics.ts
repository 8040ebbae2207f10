import { hasType, isEventType, readPattern } from '../../base/bus/event-pattern.ts';
import type { JsonObject } from '../../base/json.ts';
import { publicationItem, topicKind, topicOf } from '../../effects/publish/publication.ts';
import { decision, isDecision } from '../../ledger/decisions/decision.ts';
import type { PublishedEvent } from '../../ledger/decisions/service-decisions.ts';
import { firstSession, serviceTurn } from '../../ledger/port/service-sessions.ts';
import type { InboxEntry, ListedRow, Send, StoredRow } from '../../ledger/port.ts';
import { begunName } from './begun-name.ts';
import type { Service, ServicePost, UnheldSession } from './service.ts';
import type { ServiceSession } from './service-session.ts';

const kind = topicKind;
/** Kind of the rows of durable subscriptions. */
export const subscriptionKind = 'subscription';
const pageSize = 500;

/** The post of an event that comes from outside of all ledgers. */
export function publication(event: PublishedEvent): ServicePost {
  const { key, data } = publicationItem(event);
  return { kind, name: topicOf(event.type), key, data };
}

/** A service that subscribes, and the turn in which it gets its events. */
export interface Subscriber {
  readonly kind: string;
  readonly name: string;
  readonly runnable: string;
}

/** The row by which a service gets the events that fit a pattern, from its commit on. */
export function subscriptionRow(of: Subscriber, pattern: string, at: number): ListedRow {
  const { kind: ofKind, name, runnable } = of;
  const body = { pattern, kind: ofKind, name, runnable };
  return { kind: subscriptionKind, id: `${ofKind}:${name}`, status: 'open', at, body };
}

/** The change that ends the subscription of a service. */
export function endedSubscription(of: Subscriber, at: number): ListedRow {
  return { ...subscriptionRow(of, '', at), status: 'ended', removed: true };
}

/**
 * Service of the topics: it hands each event to the durable subscriptions that there are at that
 * moment, in one append with the record of it.
 * @param live called with events that were handed on, for those who only listen
 */
export function topicService(live: (event: PublishedEvent) => void): Service {
  return {
    kind,
    names: () => [kind],
    advance: async (session) => {
      for (;;) {
        const entries = await session.inbox();
        if (entries.length === 0) return null;
        const subscriptions = await allSubscriptions(session);
        for (const entry of entries) {
          const event = eventOf(entry);
          if (event === undefined) await session.append({ consumes: [entry] });
          else {
            await fanOut(session, entry, event, subscriptions);
            live(event);
          }
          if (session.signal.aborted) return null;
        }
      }
    },
    rolled: () => ({}),
    rowKinds: [],
    fold: (session) => {
      const name = topicName(session);
      return name === undefined ? undefined : { name, runnable: kind, rows: [], wakeAt: null };
    },
  };
}

/** Name of the topic of a session: all of its events have it. */
function topicName({ events, inbox }: UnheldSession): string | undefined {
  for (const event of events) {
    if (isDecision(event, 'service', 'begin')) return event.data?.name;
    const type = isDecision(event, 'bus', 'fan_out') ? event.data?.event.type : undefined;
    if (type !== undefined) return topicOf(type);
  }
  for (const entry of inbox) {
    const name = begunName(entry) ?? eventOf(entry)?.type;
    if (name !== undefined) return topicOf(name);
  }
  return undefined;
}

async function fanOut(
  session: ServiceSession,
  entry: InboxEntry,
  event: PublishedEvent,
  subscriptions: readonly StoredRow[],
): Promise<void> {
  const fitting = subscriptions.filter(({ body }) => fits(body, event.type));
  const to = fitting.map(({ id }) => id);
  await session.append({
    drafts: [
      decision('bus', 'fan_out', {
        reasoning: `The event "${event.type}" goes to ${to.length} subscriptions.`,
        data: { event, to },
      }),
    ],
    consumes: [entry],
    sends: fitting.map((subscription) => deliveryOf(event, subscription)),
  });
}

function deliveryOf(event: PublishedEvent, { body }: StoredRow): Send {
  const { kind: ofKind, name, runnable } = body as unknown as Subscriber;
  return {
    // Its first session, which passes on what comes: the row outlives those that have rolled.
    to: firstSession(ofKind, name),
    turn: serviceTurn(runnable, name),
    item: {
      key: `event:${event.id}`,
      lane: 'input',
      by: 'runtime',
      at: event.at,
      type: 'service',
      data: { command: 'event', event: event as JsonObject },
    },
  };
}

function fits({ pattern }: JsonObject, type: string): boolean {
  try {
    return hasType(readPattern(pattern), type);
  } catch {
    // A pattern of another build must not keep events from others.
    return false;
  }
}

async function allSubscriptions({ store }: ServiceSession): Promise<readonly StoredRow[]> {
  const found: StoredRow[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = await store.rows({
      kind: subscriptionKind,
      limit: pageSize,
      ...(after === undefined ? {} : { after: { at: after.at, id: after.id } }),
    });
    found.push(...page);
    if (page.length < pageSize) return found;
  }
}

/** The event of an item; `undefined` when it is none. */
function eventOf({ data }: InboxEntry): PublishedEvent | undefined {
  const { command, event } = data;
  if (command !== 'publish' || typeof event !== 'object' || event === null) return undefined;
  const { id, type } = event as Partial<PublishedEvent>;
  return typeof id === 'string' && isEventType(type) ? (event as PublishedEvent) : undefined;
}
