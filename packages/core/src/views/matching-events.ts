import { type Event, eventVersions } from '../ledger/event.ts';
import { enclosingInvocation } from '../ledger/folds/invocation-fold.ts';
import type { StoredEvent } from '../ledger/port.ts';

/** Types of the events that this version writes, and `unreadable` for those that it cannot read. */
export const storedEventTypes: readonly StoredEvent['type'][] = [
  ...(Object.keys(eventVersions) as Event['type'][]),
  'unreadable',
];

/** Choice of events. Members that are left out choose all. */
export interface EventFilter {
  readonly types?: readonly StoredEvent['type'][] | undefined;
  /** The agent that acted, or else the nearest one around the event. */
  readonly agent?: string | undefined;
  /** Epoch milliseconds: events of then or later. */
  readonly from?: number | undefined;
  /** Epoch milliseconds: events before. */
  readonly to?: number | undefined;
  /** Part of the JSON text of the event, in upper or lower case. Large values are not looked at. */
  readonly text?: string | undefined;
}

/**
 * Returns the events that a filter chooses.
 * @param events the ledger from its first event on
 */
export function matchingEvents<Stored extends StoredEvent>(
  events: readonly Stored[],
  { types, agent, from = 0, to = Number.POSITIVE_INFINITY, text }: EventFilter,
): readonly Stored[] {
  const agents = new AgentsOfEvents();
  const has = text === undefined ? undefined : textSearch(text);
  let at = 0;
  return events.filter((event) => {
    if (event.type !== 'unreadable') at = event.at;
    const by = agents.of(event);
    return (
      (types === undefined || types.includes(event.type)) &&
      (agent === undefined || agent === by) &&
      at >= from &&
      at < to &&
      (has === undefined || has(JSON.stringify(event)))
    );
  });
}

/** Returns a check for texts that have this one in them, in upper or lower case. */
export function textSearch(part: string): (text: string) => boolean {
  const wanted = part.toLowerCase();
  return (text) => text.toLowerCase().includes(wanted);
}

/** Finds the agent of each event of a ledger, from the first one on. */
class AgentsOfEvents {
  /** Names of the nearest agents, by the paths of the invocations that have begun. */
  readonly #byPath = new Map<string, { readonly agent: string | undefined }>();

  of(event: StoredEvent): string | undefined {
    if (event.type === 'unreadable') return undefined;
    const { invocationId: path } = event;
    if (event.type === 'invocation_start') {
      const around = enclosingInvocation(this.#byPath, event.invocationId);
      const agent = event.kind === 'agent' ? event.name : around?.agent;
      this.#byPath.set(event.invocationId, { agent });
    }
    if ('agent' in event) return event.agent;
    if (path === undefined) return undefined;
    return (this.#byPath.get(path) ?? enclosingInvocation(this.#byPath, path))?.agent;
  }
}
