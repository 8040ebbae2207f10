import { topicKind, topicOf } from '../../../effects/publish/publication.ts';
import { isDecision } from '../../../ledger/decisions/decision.ts';
import type { PublishedEvent } from '../../../ledger/decisions/service-decisions.ts';
import type { Event } from '../../../ledger/event.ts';
import {
  firstSession,
  isServiceSession,
  sessionNumber,
} from '../../../ledger/port/service-sessions.ts';
import { triggerKind } from '../../../triggers/service/trigger-row.ts';
import type { Watch } from '../watch.ts';

/** An event that was handed on. */
export interface FanOut {
  readonly event: PublishedEvent;
  /** Subscriptions that it was sent to, as `trigger:<name>`. */
  readonly to: readonly string[];
}

/** Records of a trigger about one firing. */
export interface FiringRecord {
  readonly id: string;
  readonly trigger: string;
  /** Times that it was taken in: started, put in the queue, joined, skipped or refused. */
  taken: number;
  fired: number;
  ended: number;
  /** True when it was put in the queue, and has neither started nor been refused since. */
  isQueued: boolean;
  /** Task of the last start, and its session. */
  task?: { readonly id: string; readonly session: string };
}

/** Publications, deliveries and firings, as the ledgers of a simulation have them. */
export class Deliveries {
  /** Events that runs have published, by session, in their order. */
  readonly published = new Map<string, readonly PublishedEvent[]>();
  /** Events that were handed on, by topic, in their order. */
  readonly handedOn = new Map<string, readonly FanOut[]>();
  /** Firings of each trigger, in the order in which they were taken in. */
  readonly firings = new Map<string, readonly FiringRecord[]>();
  /** Triggers whose declaration was changed: what they take in depends on it. */
  readonly changed = new Set<string>();

  constructor(watch: Watch) {
    const ofTriggers = firstSession(triggerKind, '').replace(/[^:]*$/, '');
    const ofTopics = firstSession(topicKind, '').replace(/[^:]*$/, '');
    const ledgers = [...watch.ledgers.values()].sort(
      (one, other) => sessionNumber(one.session) - sessionNumber(other.session),
    );
    for (const { events, session } of ledgers) {
      if (session.startsWith(ofTopics)) this.#readTopic(events);
      else if (session.startsWith(ofTriggers)) this.#readTrigger(events, session);
      else if (!isServiceSession(session)) this.#readRun(events, session);
    }
  }

  #readRun(events: readonly Event[], session: string): void {
    // A fork publishes nothing of what it has from another session.
    if (events.some((event) => isDecision(event, 'fork'))) return;
    const found = events.flatMap((event) =>
      isDecision(event, 'bus', 'publish') && event.data !== undefined ? [event.data.event] : [],
    );
    if (found.length > 0) this.published.set(session, found);
  }

  #readTopic(events: readonly Event[]): void {
    for (const event of events) {
      if (!isDecision(event, 'bus', 'fan_out') || event.data === undefined) continue;
      const topic = topicOf(event.data.event.type);
      this.handedOn.set(topic, [...(this.handedOn.get(topic) ?? []), event.data]);
    }
  }

  #readTrigger(events: readonly Event[], session: string): void {
    const first = session.replace(/~\d+$/, '');
    let name = [...this.firings.keys()].find((one) => firstSession(triggerKind, one) === first);
    for (const event of events) {
      if (isDecision(event, 'trigger', 'declare') && event.data !== undefined) {
        ({ name } = event.data.declaration);
        if (event.data.revision > 1) this.changed.add(name);
        if (!this.firings.has(name)) this.firings.set(name, []);
      }
      if (name !== undefined) this.#readFiring(event, name);
    }
  }

  #readFiring(event: Event, trigger: string): void {
    if (isDecision(event, 'trigger', 'end')) {
      const ended = this.#firing(trigger, event.data?.firing ?? '');
      ended.ended++;
      return;
    }
    if (event.type !== 'decision' || event.component !== 'trigger') return;
    const { firing } = (event.data ?? {}) as { readonly firing?: { readonly id?: unknown } };
    if (typeof firing?.id !== 'string') return;
    const record = this.#firing(trigger, firing.id);
    // A firing that waits is taken in once, and started or refused later.
    if (!record.isQueued) record.taken++;
    record.isQueued = isDecision(event, 'trigger', 'queue');
    if (isDecision(event, 'trigger', 'fire') && event.data !== undefined) {
      record.fired++;
      record.task = { id: event.data.task, session: event.data.session };
    }
  }

  #firing(trigger: string, id: string): FiringRecord {
    const known = this.firings.get(trigger) ?? [];
    const found = known.find((one) => one.id === id);
    if (found !== undefined) return found;
    const made = { id, trigger, taken: 0, fired: 0, ended: 0, isQueued: false };
    this.firings.set(trigger, [...known, made]);
    return made;
  }
}
