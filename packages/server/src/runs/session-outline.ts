import type { Event, EventOf, StoredEvent } from 'adjutant';
import { defined } from 'adjutant/text';
import type { EventFilter } from 'adjutant/views';
import { GrowingColumn } from './growing-column.ts';
import { OpenEvents, outlineName } from './open-events.ts';

type Start = EventOf<'invocation_start'>;

/** An invocation without its events. */
export interface InvocationSpan {
  readonly id: string;
  /** The nearest invocation above it. */
  readonly parent?: string;
  readonly kind: Start['kind'];
  readonly name: string;
  /** The nearest agent at or above it. */
  readonly agent?: string;
  readonly status: 'open' | 'yielded' | EventOf<'invocation_end'>['status'];
  /** `seq` of its first event, and of its end. */
  readonly start: number;
  readonly end?: number;
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** Properties of an event besides its type: bits of `columns.flags`. */
const eventFlags = { failed: 1, opensRequest: 2, answersRequest: 4 } as const;

/** Columns of an outline: one entry for each event. */
export interface OutlineColumns {
  readonly at: Iterable<number>;
  readonly type: Iterable<number>;
  readonly invocation: Iterable<number>;
  readonly agent: Iterable<number>;
  readonly name: Iterable<number>;
  readonly start: Iterable<number>;
  readonly flags: Iterable<number>;
}

/** A part of an outline. */
export interface OutlinePage {
  readonly after: number;
  readonly next: number;
  readonly last: number;
  readonly types: readonly string[];
  readonly agents: readonly string[];
  readonly names: readonly string[];
  /** Those that the events of the page belong to, as they are now. */
  readonly invocations: readonly InvocationSpan[];
  readonly columns: OutlineColumns;
}

/** Names by the numbers that stand for them. */
class Names {
  readonly all: string[] = [];
  readonly #numbers = new Map<string, number>();

  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.all.length);
    return this.all.push(name) - 1;
  }
}

/** Stands for a name or an invocation that an event does not have. */
const none = -1;
/** About what is held of an invocation, in bytes, besides its texts. */
const sizeOfInvocation = 400;
const sizeOfName = 100;
const bytesPerCharacter = 4;

interface OpenSpan {
  readonly number: number;
  readonly agent: number;
  span: InvocationSpan;
}

/**
 * The events of a session in columns of numbers, folded from its ledger: enough to draw all of them
 * and to find those of a type, an agent or a time, without their bodies.
 */
export class SessionOutline {
  readonly #types = new Names();
  readonly #agents = new Names();
  readonly #names = new Names();
  readonly #open = new OpenEvents();
  readonly #at = new GrowingColumn((length) => new Float64Array(length));
  readonly #type = new GrowingColumn((length) => new Uint8Array(length));
  readonly #invocation = new GrowingColumn((length) => new Int32Array(length));
  readonly #agent = new GrowingColumn((length) => new Int32Array(length));
  readonly #name = new GrowingColumn((length) => new Int32Array(length));
  readonly #start = new GrowingColumn((length) => new Int32Array(length));
  readonly #flags = new GrowingColumn((length) => new Uint8Array(length));
  readonly #spans: OpenSpan[] = [];
  readonly #byPath = new Map<string, OpenSpan>();
  #lastAt = 0;
  #size = 0;

  /** About how many bytes it holds. */
  get size(): number {
    const columns = [
      ...[this.#at, this.#type, this.#invocation, this.#agent],
      ...[this.#name, this.#start, this.#flags],
    ];
    return columns.reduce((sum, { size }) => sum + size, this.#size);
  }

  /** `seq` of the last event. */
  get last(): number {
    return this.#at.length;
  }

  add(event: StoredEvent): void {
    if (event.type === 'unreadable') {
      this.#push(event.type, this.#lastAt, none, none);
      this.#pushDetails(none, 0, 0);
      return;
    }
    this.#lastAt = event.at;
    if (event.type === 'invocation_start') this.#begin(event);
    const within = this.#spanOf(event.invocationId);
    if (within !== undefined && within.span.id === event.invocationId)
      within.span = spanAfter(within.span, event);
    const agent = 'agent' in event ? this.#agents.of(event.agent) : (within?.agent ?? none);
    this.#push(event.type, event.at, within?.number ?? none, agent);
    this.#pushDetails(this.#nameOf(event), this.#open.take(event), flagsOf(event));
  }

  #nameOf(event: Event): number {
    const name = outlineName(event);
    if (name === undefined) return none;
    const known = this.#names.all.length;
    const number = this.#names.of(name);
    if (number === known) this.#size += sizeOfName + name.length * bytesPerCharacter;
    return number;
  }

  #push(type: string, at: number, invocation: number, agent: number): void {
    this.#at.push(at);
    this.#type.push(this.#types.of(type));
    this.#invocation.push(invocation);
    this.#agent.push(agent);
  }

  #pushDetails(name: number, start: number, flags: number): void {
    this.#name.push(name);
    this.#start.push(start);
    this.#flags.push(flags);
  }

  #begin({ invocationId: id, kind, name, seq, at }: Start): void {
    const above = this.#spanOf(aboveOf(id));
    const agent = kind === 'agent' ? this.#agents.of(name) : (above?.agent ?? none);
    const span: InvocationSpan = {
      id,
      ...defined({ parent: above?.span.id }),
      kind,
      name,
      ...defined({ agent: this.#agents.all[agent] }),
      status: 'open',
      start: seq,
      startedAt: at,
    };
    const opened = { number: this.#spans.length, agent, span };
    this.#spans.push(opened);
    this.#byPath.set(id, opened);
    this.#size += sizeOfInvocation + id.length * bytesPerCharacter;
  }

  /** The invocation of a path, or else the nearest one above it. */
  #spanOf(path: string | undefined): OpenSpan | undefined {
    for (let id = path ?? ''; id !== ''; id = aboveOf(id)) {
      const found = this.#byPath.get(id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** `seq` of the events that a filter chooses, after a place. Texts are not looked at. */
  *matching(
    { types, agent, from = 0, to = Number.POSITIVE_INFINITY }: EventFilter,
    after: number,
  ): Generator<number, void, undefined> {
    const chosen = types && new Set(types.map((type) => this.#types.all.indexOf(type)));
    const by = agent === undefined ? undefined : this.#agents.all.indexOf(agent);
    if (by === none) return;
    const { last } = this;
    for (let index = after; index < last; index++) {
      if (chosen !== undefined && !chosen.has(this.#type.at(index))) continue;
      if (by !== undefined && this.#agent.at(index) !== by) continue;
      const at = this.#at.at(index);
      if (at >= from && at < to) yield index + 1;
    }
  }

  /** A copy of the events after a place, at most so many. */
  page(after: number, limit: number): OutlinePage {
    const next = Math.min(this.last, after + limit);
    const numbers = this.#invocation.slice(after, next);
    const { spans, invocation } = this.#ofPage(numbers);
    return {
      after,
      next,
      last: this.last,
      types: [...this.#types.all],
      agents: [...this.#agents.all],
      names: [...this.#names.all],
      invocations: spans,
      columns: {
        at: this.#at.slice(after, next),
        type: this.#type.slice(after, next),
        invocation,
        agent: this.#agent.slice(after, next),
        name: this.#name.slice(after, next),
        start: this.#start.slice(after, next),
        flags: this.#flags.slice(after, next),
      },
    };
  }

  /** The invocations that numbers stand for, and their places among these for the numbers. */
  #ofPage(numbers: Iterable<number> & { readonly length: number }): {
    readonly spans: readonly InvocationSpan[];
    readonly invocation: Int32Array;
  } {
    const places = new Int32Array(this.#spans.length).fill(none);
    const invocation = new Int32Array(numbers.length);
    const spans: InvocationSpan[] = [];
    let index = 0;
    for (const number of numbers) {
      const opened = this.#spans[number];
      if (opened !== undefined && places[number] === none)
        places[number] = spans.push(opened.span) - 1;
      invocation[index++] = places[number] ?? none;
    }
    return { spans, invocation };
  }
}

/** The path above a path; `''` above the root of a run. */
function aboveOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function spanAfter(span: InvocationSpan, event: Event): InvocationSpan {
  switch (event.type) {
    case 'invocation_yield':
      return { ...span, status: 'yielded' };
    case 'invocation_resume':
      return { ...span, status: 'open' };
    case 'invocation_end':
      return { ...span, status: event.status, end: event.seq, endedAt: event.at };
    case 'invocation_reopen': {
      const { end, endedAt, ...open } = span;
      return { ...open, status: 'open' };
    }
    default:
      return span;
  }
}

function flagsOf(event: Event): number {
  switch (event.type) {
    case 'tool_yield':
      return eventFlags.opensRequest;
    case 'tool_input':
      return eventFlags.answersRequest;
    default:
      return isFailed(event) ? eventFlags.failed : 0;
  }
}

/** True also for an attempt that failed and was made again. */
function isFailed(event: Event): boolean {
  switch (event.type) {
    case 'error':
      return true;
    case 'model_end':
    case 'invocation_end':
      return event.status === 'error';
    case 'tool_result':
      return event.result.status !== 'success' && event.result.status !== 'partial';
    default:
      return false;
  }
}
