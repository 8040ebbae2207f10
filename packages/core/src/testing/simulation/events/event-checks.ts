import { topicOf } from '../../../effects/publish/publication.ts';
import { isDecision } from '../../../ledger/decisions/decision.ts';
import type { PublishedEvent } from '../../../ledger/decisions/service-decisions.ts';
import { triggerKind } from '../../../triggers/service/trigger-row.ts';
import type { Watch } from '../watch.ts';
import type { ReportBroken } from '../watched-ledger.ts';
import { Deliveries, type FiringRecord } from './deliveries.ts';

/** True when events are on their way, or triggers have something to do. */
export function areEventsOpen(watch: Watch): boolean {
  const deliveries = new Deliveries(watch);
  const { firings, handedOn, published } = deliveries;
  const arrived = new Set([...handedOn.values()].flat().map(({ event }) => event.id));
  const isOpen = (firing: FiringRecord): boolean =>
    isOfEvent(firing) && (firing.isQueued || firing.ended < firing.fired);
  return (
    [...published.values()].flat().some(({ id }) => !arrived.has(id)) ||
    missing(deliveries).length > 0 ||
    [...firings.values()].flat().some(isOpen)
  );
}

/**
 * Each published event is handed on once, and taken in once by each trigger that it was sent to, in
 * the order of its publisher and of its topic. Each firing has one task.
 * @param confirmed ids of events whose publication people know of
 */
export function checkEvents(
  watch: Watch,
  confirmed: ReadonlySet<string>,
  report: ReportBroken,
): void {
  const deliveries = new Deliveries(watch);
  checkHandedOn(deliveries, confirmed, report);
  checkOrder(deliveries, report);
  for (const { id, to } of missing(deliveries))
    report('event_delivered', `${id} was sent to ${to}, which has not taken it in`);
  for (const firing of [...deliveries.firings.values()].flat()) checkFiring(watch, firing, report);
}

function checkHandedOn(
  { handedOn, published }: Deliveries,
  confirmed: ReadonlySet<string>,
  report: ReportBroken,
): void {
  const times = new Map<string, number>();
  for (const { event } of [...handedOn.values()].flat())
    times.set(event.id, (times.get(event.id) ?? 0) + 1);
  for (const [id, count] of times)
    if (count > 1) report('event_delivered', `${id} was handed on ${count} times`);
  const known = [...[...published.values()].flat().map(({ id }) => id), ...confirmed];
  for (const id of known)
    if (!times.has(id)) report('event_delivered', `${id} was published, and not handed on`);
}

/** Events that a trigger was sent, and has not taken in. */
function missing({ changed, firings, handedOn }: Deliveries) {
  return [...handedOn.values()].flat().flatMap(({ event, to }) =>
    to.flatMap((subscription) => {
      const name = nameOf(subscription);
      if (name === undefined || changed.has(name)) return [];
      const isTaken = firings.get(name)?.some(({ id }) => id === firingOf(event));
      return isTaken === true ? [] : [{ id: event.id, to: name }];
    }),
  );
}

function checkOrder({ firings, handedOn, published }: Deliveries, report: ReportBroken): void {
  for (const [topic, found] of handedOn) {
    const places = new Map(found.map(({ event }, place) => [event.id, place]));
    for (const [session, events] of published) {
      const own = events.filter(({ type }) => topicOf(type) === topic);
      if (!isRising(own.flatMap(({ id }) => places.get(id) ?? [])))
        report('events_in_order', `${topic}: those of ${session} were handed on in another order`);
    }
    const byFiring = new Map(found.map(({ event }, place) => [firingOf(event), place]));
    for (const [trigger, taken] of firings)
      if (!isRising(taken.flatMap(({ id }) => byFiring.get(id) ?? [])))
        report('events_in_order', `${trigger} has taken in those of ${topic} in another order`);
  }
}

function checkFiring(watch: Watch, firing: FiringRecord, report: ReportBroken): void {
  const { fired, id, isQueued, taken, task, trigger } = firing;
  const what = `firing ${id} of ${trigger}`;
  if (taken > 1) report('firing_once', `${what} was taken in ${taken} times`);
  if (fired > 1) report('firing_once', `${what} was started ${fired} times`);
  // Schedules go on: one of their firings may be under way at any end.
  if (isQueued && isOfEvent(firing)) report('everything_ends', `${what} waits`);
  if (task === undefined) return;
  const begun = [...watch.ledgers.values()].flatMap(({ events, session }) =>
    events.flatMap((event) => {
      if (!isDecision(event, 'scheduler', 'enqueue')) return [];
      const by = event.data?.began;
      return by?.firing === id && by.trigger === trigger ? [{ session, id: event.data?.id }] : [];
    }),
  );
  if (begun.length !== 1) report('firing_once', `${what} has begun ${begun.length} tasks`);
  else if (begun[0]?.id !== task.id || begun[0].session !== task.session)
    report('firing_once', `${what} has begun another task than it has recorded`);
  if (firing.ended === 0 && isOfEvent(firing))
    report('everything_ends', `the task ${task.id} of ${what} is open`);
}

function isOfEvent({ id }: FiringRecord): boolean {
  return id.startsWith('event:');
}

function firingOf({ id }: PublishedEvent): string {
  return `event:${id}`;
}

function nameOf(subscription: string): string | undefined {
  return subscription.startsWith(`${triggerKind}:`)
    ? subscription.slice(triggerKind.length + 1)
    : undefined;
}

function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
}
