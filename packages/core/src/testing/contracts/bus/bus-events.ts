import { systemIds } from '../../../base/id.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { BusEvent, EventBus } from '../../../bus/event-bus.ts';
import { eventually } from '../../kit/eventually.ts';

let count = 0;

/** Makes an event with an id of its own. */
export function busEvent(type: string, data: JsonValue = null, source = 'contract'): BusEvent {
  return { id: `event-${++count}`, source, type, data, at: 1_700_000_000_000 + count };
}

/** Collects what a subscription gets. */
export async function collected(bus: EventBus, pattern: string): Promise<BusEvent[]> {
  const events: BusEvent[] = [];
  await bus.subscribe(pattern, (event) => events.push(event));
  return events;
}

/**
 * Waits until all that was published before on this bus has been told to the other: until an event
 * that is published behind it has come.
 */
export async function settled(from: EventBus, to: EventBus): Promise<void> {
  const type = `settled.${systemIds.next()}`;
  const heard = await collected(to, type);
  await from.publish(busEvent(type));
  await eventually(() => heard.length > 0, { what: 'the last event' });
}

/** Returns the code of the error that a promise is rejected with. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return undefined;
}
