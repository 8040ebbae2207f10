import type { JsonValue } from '../../base/json.ts';
import type { Event } from '../../ledger/event.ts';

/** One thing that has happened to a trigger. */
export interface TriggerHistoryEntry {
  /** Number of the event in its session; a service that has rolled counts anew. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly by: string;
  /** Such as `fire`, `skip`, `end` or `pause`. */
  readonly decision: string;
  readonly reasoning: string;
  readonly data?: JsonValue;
}

/** The entry of an event; none for an event that is not about the trigger. */
export function historyEntry(event: Event): readonly TriggerHistoryEntry[] {
  if (event.type !== 'decision' || event.component !== 'trigger') return [];
  const { at, by, data, decision, reasoning, seq } = event;
  return [
    {
      ...{ seq, at, by, decision, reasoning },
      ...(data === undefined ? {} : { data: data as JsonValue }),
    },
  ];
}
