import { type EventKind, kindOf } from './kinds.ts';

/** Bits of the column `flags`, as the server has them. */
export const flag = { failed: 1, asks: 2, answers: 4 } as const;

/** Invocation of a session: from its first event to its end. */
export interface InvocationSpan {
  /** Its path in the ledger. */
  readonly id: string;
  readonly parent?: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly agent?: string | undefined;
  readonly status: string;
  readonly start: number;
  readonly end?: number | undefined;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

/** Part of a ledger as columns: one entry for each event, without their bodies. */
export interface OutlinePart {
  /** `seq` before the first entry. */
  readonly after: number;
  readonly types: readonly string[];
  readonly agents: readonly string[];
  readonly names: readonly string[];
  readonly invocations: readonly InvocationSpan[];
  readonly columns: {
    readonly at: readonly number[];
    readonly type: readonly number[];
    readonly invocation: readonly number[];
    readonly agent: readonly number[];
    readonly name: readonly number[];
    readonly start: readonly number[];
    readonly flags: readonly number[];
  };
}

/** Event as the columns know it. */
export interface OutlineEvent {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly type: string;
  readonly kind: EventKind;
  /** Path of its invocation; missing for events of the session itself. */
  readonly invocation: string | undefined;
  readonly agent: string | undefined;
  /** Tool, component, agent: the one word that tells it from others of its type. */
  readonly name: string | undefined;
  /** `seq` of the event that it ends, such as the call of a result; 0 for none. */
  readonly start: number;
  readonly flags: number;
}

/** Numbers of texts, each given once. */
class Names {
  readonly all: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.all.length);
    return this.all.push(name) - 1;
  }
}

const firstRoom = 1_024;

/**
 * Columns of a whole ledger in typed arrays: 100,000 events take two megabytes, and everything that
 * is drawn of all events at once reads nothing else.
 */
export class Columns {
  /** Number of events, which is the `seq` of the last one. */
  count = 0;
  readonly types = new Names();
  readonly names = new Names();
  readonly agents = new Names();
  readonly invocations = new Names();
  /** The invocations as they were read last, by their numbers. */
  readonly spans: InvocationSpan[] = [];
  at = new Float64Array(firstRoom);
  type = new Uint16Array(firstRoom);
  name = new Int32Array(firstRoom);
  agent = new Int32Array(firstRoom);
  invocation = new Int32Array(firstRoom);
  start = new Int32Array(firstRoom);
  flags = new Uint8Array(firstRoom);
  readonly #kinds: EventKind[] = [];

  /** Takes a part that continues the columns; entries that are there already are skipped. */
  add(part: OutlinePart): void {
    const { columns, after } = part;
    const types = part.types.map((type) => this.types.numberOf(type));
    const names = part.names.map((name) => this.names.numberOf(name));
    const agents = part.agents.map((agent) => this.agents.numberOf(agent));
    const invocations = part.invocations.map((span) => {
      const number = this.invocations.numberOf(span.id);
      this.spans[number] = span;
      return number;
    });
    const known = this.count - after;
    if (known < 0) throw new Error(`Events ${this.count + 1} to ${after} are missing`);
    for (let i = known; i < columns.at.length; i++) {
      this.#append({
        at: columns.at[i] ?? 0,
        type: types[columns.type[i] ?? 0] ?? 0,
        agent: agents[columns.agent[i] ?? -1] ?? -1,
        name: names[columns.name[i] ?? -1] ?? -1,
        invocation: invocations[columns.invocation[i] ?? -1] ?? -1,
        start: columns.start[i] ?? 0,
        flags: columns.flags[i] ?? 0,
      });
    }
  }

  kindAt(seq: number): EventKind {
    const i = seq - 1;
    if (((this.flags[i] ?? 0) & flag.failed) !== 0) return 'error';
    return this.#kinds[this.type[i] ?? 0] ?? 'control';
  }

  typeAt(seq: number): string {
    return this.types.all[this.type[seq - 1] ?? 0] ?? '';
  }

  eventAt(seq: number): OutlineEvent | undefined {
    const i = seq - 1;
    if (i < 0 || i >= this.count) return undefined;
    return {
      seq,
      at: this.at[i] ?? 0,
      type: this.typeAt(seq),
      kind: this.kindAt(seq),
      invocation: this.invocations.all[this.invocation[i] ?? -1],
      agent: this.agents.all[this.agent[i] ?? -1],
      name: this.names.all[this.name[i] ?? -1],
      start: this.start[i] ?? 0,
      flags: this.flags[i] ?? 0,
    };
  }

  /** Returns the last event at or before an instant, by halving; 1 before all of them. */
  seqAtTime(instant: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.at[middle] ?? 0) <= instant) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  /** Returns the next event that is wanted, from a place on in a direction; `undefined` for none. */
  find(from: number, step: 1 | -1, isWanted: (seq: number) => boolean): number | undefined {
    for (let seq = from + step; seq >= 1 && seq <= this.count; seq += step)
      if (isWanted(seq)) return seq;
    return undefined;
  }

  #append(entry: { readonly [Column in keyof OutlinePart['columns']]: number }): void {
    if (this.count === this.at.length) this.#grow();
    const i = this.count++;
    this.at[i] = entry.at;
    this.type[i] = entry.type;
    this.name[i] = entry.name;
    this.agent[i] = entry.agent;
    this.invocation[i] = entry.invocation;
    this.start[i] = entry.start;
    this.flags[i] = entry.flags;
    this.#kinds[entry.type] ??= kindOf(this.types.all[entry.type] ?? '');
  }

  #grow(): void {
    const room = this.at.length * 2;
    this.at = grown(this.at, new Float64Array(room));
    this.type = grown(this.type, new Uint16Array(room));
    this.name = grown(this.name, new Int32Array(room));
    this.agent = grown(this.agent, new Int32Array(room));
    this.invocation = grown(this.invocation, new Int32Array(room));
    this.start = grown(this.start, new Int32Array(room));
    this.flags = grown(this.flags, new Uint8Array(room));
  }
}

function grown<Values extends { set(values: Values): void }>(from: Values, to: Values): Values {
  to.set(from);
  return to;
}
