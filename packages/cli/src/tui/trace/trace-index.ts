import { type Event, type EventOf, isSuccess, type StoredEvent } from 'adjutant';
import { decisionNote } from '../feed/decision-notes.ts';
import { isKnown } from '../feed/known-events.ts';

/** Openness of a head: only itself, what belongs to it, or its details as well. */
export type Openness = 0 | 1 | 2;

/** Place of an event among others: heads are what it is folded into. */
interface Placed {
  /** Place of the head, -1: none. */
  readonly head: number;
  /** Openness of the head from which on the event is seen. */
  readonly from: Openness;
  /** Depth of the invocation that the event belongs to. */
  readonly depth: number;
}

/**
 * Events by their places, from 0, with what belongs together: an invocation and its parts, a round
 * and its calls, a call and its result. It grows with the ledger; each event is read once.
 */
export class TraceIndex {
  readonly #events: StoredEvent[] = [];
  readonly #placed: Placed[] = [];
  /** Places of the ends, by those of the heads. */
  readonly #ends = new Map<number, number>();
  /** Places of the starts, and the depths, of invocations. */
  readonly #starts = new Map<string, number>();
  readonly #depths = new Map<string, number>();
  /** Places of the model calls, by rounds and of the newest round of each invocation. */
  readonly #rounds = new Map<string, number>();
  readonly #newestRounds = new Map<string, number>();
  readonly #calls = new Map<string, number>();

  constructor(events: Iterable<StoredEvent> = []) {
    for (const event of events) this.add(event);
  }

  get length(): number {
    return this.#events.length;
  }

  event(place: number): StoredEvent {
    const event = this.#events[place];
    if (event === undefined) throw new RangeError(`There is no event at place ${place}.`);
    return event;
  }

  /** Place of the event of a number, or of the last one before it. */
  placeOf(seq: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.event(middle).seq <= seq) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  headOf(place: number): number {
    return this.#placed[place]?.head ?? -1;
  }

  /** Openness of its head from which on an event is seen. */
  seenFrom(place: number): Openness {
    return this.#placed[place]?.from ?? 0;
  }

  depthOf(place: number): number {
    return this.#placed[place]?.depth ?? 0;
  }

  /** The end of a call of a model or a tool, or of an invocation. `undefined`: it is open. */
  endOf(place: number): Event | undefined {
    const end = this.#ends.get(place);
    return end === undefined ? undefined : (this.event(end) as Event);
  }

  /** The start of an invocation. */
  startOf(path: string | undefined): EventOf<'invocation_start'> | undefined {
    const place = path === undefined ? undefined : this.#starts.get(path);
    return place === undefined ? undefined : (this.event(place) as EventOf<'invocation_start'>);
  }

  /** The call that an event is about. */
  callOf(callId: string): EventOf<'tool_call'> | undefined {
    const place = this.#calls.get(callId);
    return place === undefined ? undefined : (this.event(place) as EventOf<'tool_call'>);
  }

  add(event: StoredEvent): void {
    const place = this.#events.length;
    this.#events.push(event);
    this.#placed.push(isKnown(event) ? this.#place(event, place) : { head: -1, from: 0, depth: 0 });
  }

  #place(event: Event, place: number): Placed {
    switch (event.type) {
      case 'invocation_start':
        return this.#start(event, place);
      case 'invocation_end':
        this.#end(this.#starts.get(event.invocationId), place);
        return this.#within(event, this.#starts.get(event.invocationId));
      case 'invocation_yield':
      case 'invocation_resume':
      case 'invocation_reopen':
        return this.#within(event, this.#starts.get(event.invocationId));
      case 'model_start':
        this.#newestRounds.set(event.invocationId, place);
        this.#rounds.set(`${event.invocationId}/r${event.round}`, place);
        return this.#within(event, this.#starts.get(event.invocationId));
      case 'model_end':
        this.#end(this.#rounds.get(`${event.invocationId}/r${event.round}`), place);
        return this.#detail(event, this.#rounds.get(`${event.invocationId}/r${event.round}`));
      case 'thought':
      case 'assistant':
        return event.round === undefined
          ? this.#within(event)
          : this.#detail(event, this.#rounds.get(`${event.invocationId}/r${event.round}`));
      case 'tool_call':
        this.#calls.set(event.callId, place);
        return this.#within(event);
      case 'tool_attempt':
      case 'tool_yield':
      case 'tool_input':
      case 'tool_result': {
        const call = this.#calls.get(event.callId);
        if (event.type === 'tool_result' && event.settled) this.#end(call, place);
        return call === undefined ? this.#within(event) : this.#detail(event, call);
      }
      default:
        return this.#within(event);
    }
  }

  #end(head: number | undefined, place: number): void {
    if (head !== undefined) this.#ends.set(head, place);
  }

  #start(event: EventOf<'invocation_start'>, place: number): Placed {
    const { invocationId, parent } = event;
    const around = parent === undefined ? 0 : (this.#depths.get(parent) ?? 0);
    this.#starts.set(invocationId, place);
    this.#depths.set(invocationId, around + 1);
    const head = parent === undefined ? undefined : this.#headIn(parent);
    return { head: head ?? -1, from: 1, depth: Math.max(0, around - 1) };
  }

  /** Head of what happens in an invocation: its newest round, before the first one its start. */
  #headIn(path: string): number | undefined {
    return this.#newestRounds.get(path) ?? this.#starts.get(path);
  }

  #within({ invocationId }: Event, head?: number): Placed {
    if (invocationId === undefined) return { head: -1, from: 0, depth: 0 };
    const depth = Math.max(0, (this.#depths.get(invocationId) ?? 1) - 1);
    return { head: head ?? this.#headIn(invocationId) ?? -1, from: 1, depth };
  }

  #detail(event: Event, head: number | undefined): Placed {
    const around = this.#within(event);
    return head === undefined ? around : { head, from: 2, depth: around.depth + 1 };
  }
}

/** Checks whether something went wrong, was refused or nearly used up. */
export function isTrouble(event: StoredEvent): boolean {
  if (!isKnown(event)) return true;
  switch (event.type) {
    case 'decision': {
      const tone = decisionNote(event)?.tone;
      return tone === 'failure' || tone === 'attention';
    }
    case 'tool_result':
      return !isSuccess(event.result);
    case 'model_end':
      return event.status === 'error' || event.status === 'interrupted';
    case 'invocation_end':
      return event.status === 'error' || event.stopReason !== undefined;
    case 'error':
    case 'cancel':
      return true;
    default:
      return false;
  }
}
