import type { Event } from '../ledger/event.ts';
import { ancestorsOf, isBelow } from '../ledger/path.ts';

/**
 * Calls whose bodies a replay does not run, because their recorded outcome is served. Events below
 * them are put into the ledger where they stood.
 */
export class ServedCalls {
  readonly #events: readonly Event[];
  readonly #served = new Set<string>();
  readonly #withChildren: ReadonlySet<string>;
  #begun: ReadonlySet<string> | undefined;

  /**
   * @param events the whole record
   * @param to the place behind the last event that is replayed
   */
  constructor(events: readonly Event[], to: number) {
    this.#events = events;
    this.#withChildren = callsWithChildren(events.slice(0, to));
  }

  add(callId: string): void {
    this.#served.add(callId);
  }

  /** Checks that a call has children or effects of its own in the record. */
  hasChildren(callId: string): boolean {
    return this.#withChildren.has(callId);
  }

  /** True when a call was attempted or asked about in the record. */
  hasBegun(callId: string): boolean {
    this.#begun ??= new Set(
      this.#events.flatMap((event) =>
        event.type === 'tool_attempt' || event.type === 'tool_yield' ? event.callId : [],
      ),
    );
    return this.#begun.has(callId);
  }

  /**
   * True when no code makes an event again, because it is below a served call. A write belongs to
   * the start that it was recorded with.
   */
  isAbove(event: Event): boolean {
    const started = isFlush(event) ? (landingOf(this.#events, event) ?? event) : event;
    for (const callId of this.#served) if (concerns(started, callId)) return true;
    return false;
  }
}

/** Checks that an event is of an invocation or a call below `callId`, or a decision about one. */
function concerns(event: Event, callId: string): boolean {
  return (
    (event.invocationId !== undefined && isBelow(event.invocationId, callId)) ||
    ('callId' in event && isBelow(event.callId, callId)) ||
    (event.type === 'decision' &&
      Object.values(event.data ?? {}).some(
        (value) => typeof value === 'string' && isBelow(value, callId),
      ))
  );
}

/** True when a body wrote or noted an event right before something that it started. */
function isFlush(event: Event): boolean {
  return event.type === 'memory' || (event.type === 'state_change' && event.flush !== undefined);
}

/** The start that was recorded together with the writes that `event` is one of. */
function landingOf(events: readonly Event[], event: Event): Event | undefined {
  let at = event.seq;
  for (
    let next = events[at];
    next !== undefined &&
    next.at === event.at &&
    next.invocationId === event.invocationId &&
    isFlush(next);
    next = events[at]
  )
    at++;
  const landing = events[at];
  return landing?.type === 'invocation_start' || landing?.type === 'tool_attempt'
    ? landing
    : undefined;
}

/** The ids of the tool calls that have children or effects of their own. */
function callsWithChildren(events: readonly Event[]): ReadonlySet<string> {
  const calls = new Set<string>();
  for (const event of events) if (event.type === 'tool_call') calls.add(event.callId);
  const found = new Set<string>();
  for (const event of events) {
    const path =
      event.type === 'invocation_start'
        ? event.invocationId
        : event.type === 'tool_attempt'
          ? event.callId
          : undefined;
    if (path === undefined) continue;
    for (const above of ancestorsOf(path)) if (calls.has(above)) found.add(above);
  }
  return found;
}
