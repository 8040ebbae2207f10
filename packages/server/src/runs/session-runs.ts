import type { ErrorRecord, Event, EventOf, StoredEvent } from 'adjutant';
import { sleepsUntil } from 'adjutant/ports';
import { ConfidenceFold, type ModelUse, noUse, useWith } from 'adjutant/views';
import { isRoot, runOf } from '../stream/run-state.ts';

type RunEnd = EventOf<'invocation_end'>;

/** Outline of one run of a session. */
export interface RunOutline {
  readonly id: string;
  readonly agent: string;
  readonly kind: string;
  /** Lane of the session, unless it is the default lane. */
  readonly lane?: string | undefined;
  readonly status: 'running' | 'waiting' | 'completed' | 'error' | 'cancelled';
  /** Reason why the run waits: a message, an answer to a request, or to be continued. */
  readonly waitsFor?: EventOf<'invocation_yield'>['reason'] | undefined;
  /** Epoch milliseconds at which the first of its sleeps ends, while it waits. */
  readonly sleepsUntil?: number | undefined;
  /** `seq` of the event that has its output. */
  readonly endSeq?: number | undefined;
  readonly error?: ErrorRecord | undefined;
  readonly stopReason?: RunEnd['stopReason'] | undefined;
  /** Confidence in the output, when something lowers it. */
  readonly confidence?: number | undefined;
  readonly use: ModelUse;
  /** `seq` of its first event. */
  readonly startSeq: number;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

/** The runs of a session, folded from its events, of which nothing else is kept. */
export class SessionRuns {
  readonly #runs = new Map<string, RunOutline>();
  /** The runs that inputs went to which were to begin runs of their own, by the ids of those. */
  readonly #joined = new Map<string, string>();
  readonly #extents = new Map<string, { readonly first: number; last: number }>();
  readonly #confidence = new ConfidenceFold();
  /** Ends of the sleeps that are open, by their paths. */
  readonly #sleeps = new Map<string, number>();
  #seq = 0;
  #size = 0;

  get size(): number {
    return this.#size + this.#confidence.size;
  }

  /** Where the events of a run lie; `undefined`: it has none. */
  extentOf(
    id: string,
  ): { readonly first: number; readonly last: number; readonly isEnded: boolean } | undefined {
    const extent = this.#extents.get(id);
    return extent === undefined
      ? undefined
      : { ...extent, isEnded: this.#runs.get(id)?.endedAt !== undefined };
  }

  /** `seq` of the last event. */
  get seq(): number {
    return this.#seq;
  }

  /** In the order in which they began. */
  get all(): readonly RunOutline[] {
    return [...this.#runs.values()];
  }

  /** The run with this id; or the one that its input went to, because it was open already. */
  find(id: string): RunOutline | undefined {
    return this.#runs.get(id) ?? this.#runs.get(this.#joined.get(id) ?? '');
  }

  add(event: StoredEvent): void {
    this.#seq = event.seq;
    if (event.type === 'unreadable' || event.invocationId === undefined) return;
    this.#confidence.add(event);
    this.#sleep(event);
    const id = runOf(event.invocationId);
    this.#extend(id, event.seq);
    const run = this.#runs.get(id);
    if (run === undefined) {
      if (event.type === 'invocation_start') this.#runs.set(id, begun(id, event));
      return;
    }
    // A message that was taken as an answer is an input of the run, too.
    const isInput = event.type === 'user' || event.type === 'tool_input';
    if (isInput && event.clientKey !== undefined) this.#join(event.clientKey, id);
    else if (event.type === 'model_end')
      this.#runs.set(id, { ...run, use: useWith(run.use, event) });
    else if (isRoot(event.invocationId)) this.#runs.set(id, this.#rootAfter(run, event));
  }

  #rootAfter(run: RunOutline, event: Event): RunOutline {
    const after = rootAfter(run, event);
    if (after.status === 'waiting') return { ...after, sleepsUntil: this.#firstSleepEnd(run.id) };
    if (after.endedAt === undefined) return after;
    return { ...after, confidence: this.#confidence.of(run.id) };
  }

  #sleep(event: Event): void {
    if (event.type === 'invocation_start' && event.kind === 'sleep')
      this.#sleeps.set(event.invocationId, sleepsUntil(event.input));
    if (event.type === 'invocation_end') this.#sleeps.delete(event.invocationId);
  }

  #firstSleepEnd(run: string): number | undefined {
    const ends = [...this.#sleeps].flatMap(([path, until]) => (runOf(path) === run ? until : []));
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  #join(input: string, id: string): void {
    if (!this.#joined.has(input)) this.#size += sizeOfInput;
    this.#joined.set(input, id);
  }

  #extend(id: string, seq: number): void {
    const extent = this.#extents.get(id);
    if (extent !== undefined) {
      extent.last = seq;
      return;
    }
    this.#extents.set(id, { first: seq, last: seq });
    this.#size += sizeOfRun;
  }
}

/** About what is held of a run, and of an input to one, in bytes. */
const sizeOfRun = 800;
const sizeOfInput = 150;

function ended(run: RunOutline, { status, error, stopReason, at, seq }: RunEnd): RunOutline {
  return {
    ...run,
    status: status === 'transferred' ? 'completed' : status,
    waitsFor: undefined,
    sleepsUntil: undefined,
    error,
    stopReason,
    endedAt: at,
    endSeq: seq,
  };
}

function begun(id: string, { name, kind, lane, seq, at }: EventOf<'invocation_start'>): RunOutline {
  const status = 'running' as const;
  return { id, agent: name, kind, lane, status, use: noUse, startSeq: seq, startedAt: at };
}

function rootAfter(run: RunOutline, event: Event): RunOutline {
  switch (event.type) {
    case 'invocation_yield':
      return { ...run, status: 'waiting', waitsFor: event.reason };
    case 'invocation_resume':
      return { ...run, status: 'running', waitsFor: undefined, sleepsUntil: undefined };
    case 'invocation_reopen':
      return {
        ...run,
        status: 'running',
        waitsFor: undefined,
        sleepsUntil: undefined,
        error: undefined,
        stopReason: undefined,
        confidence: undefined,
        endedAt: undefined,
        endSeq: undefined,
      };
    case 'invocation_end':
      return event.next === undefined ? ended(run, event) : run;
    default:
      return run;
  }
}
