import { type Columns, flag } from './columns.ts';

/** Stretch of time on the timeline. */
export interface Bar {
  readonly kind: 'invocation' | 'model' | 'tool' | 'wait' | 'error';
  /** Number of the invocation in the columns. */
  readonly invocation: number;
  /** `seq` of the event that begins it, and of the one that ends it; 0 while it is open. */
  readonly from: number;
  to: number;
  readonly startedAt: number;
  /** Epoch milliseconds; `Infinity` while it is open. */
  endedAt: number;
  isFailed: boolean;
  readonly name: string;
}

const begins: Readonly<Record<string, Bar['kind']>> = {
  invocation_start: 'invocation',
  model_start: 'model',
  tool_call: 'tool',
  tool_yield: 'wait',
};

/** Bars of a ledger, kept up to date with its columns. */
export class Bars {
  readonly all: Bar[] = [];
  readonly #byStart = new Map<number, Bar>();
  #read = 0;

  /** Reads the events that came since the last call. */
  update(columns: Columns): void {
    for (let seq = this.#read + 1; seq <= columns.count; seq++) this.#take(columns, seq);
    this.#read = columns.count;
  }

  #take(columns: Columns, seq: number): void {
    const event = columns.eventAt(seq);
    if (event === undefined) return;
    const kind = begins[event.type];
    if (kind !== undefined) {
      const bar: Bar = {
        kind,
        invocation: columns.invocation[seq - 1] ?? -1,
        from: seq,
        to: 0,
        startedAt: event.at,
        endedAt: Number.POSITIVE_INFINITY,
        isFailed: false,
        name: event.name ?? '',
      };
      this.all.push(bar);
      this.#byStart.set(seq, bar);
    }
    const ended = this.#byStart.get(event.start);
    if (ended === undefined) return;
    ended.to = seq;
    ended.endedAt = event.at;
    ended.isFailed = (event.flags & flag.failed) !== 0;
  }
}
