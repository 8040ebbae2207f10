import type { ErrorRecord, Event, EventOf, StoredEvent } from 'adjutant';
import { isRoot, runOf } from '../stream/run-state.ts';
import { type ModelUse, noUse, useWith } from './model-use.ts';

type RunEnd = EventOf<'invocation_end'>;

/** What is known of one run of a session. */
export interface RunOutline {
  readonly id: string;
  readonly agent: string;
  readonly kind: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'error' | 'cancelled';
  /** What it waits for: a message, an answer to a request, or to be continued. */
  readonly waitsFor?: EventOf<'invocation_yield'>['reason'] | undefined;
  /** As recorded: large values are references. */
  readonly output?: RunEnd['output'] | undefined;
  readonly error?: ErrorRecord | undefined;
  readonly stopReason?: RunEnd['stopReason'] | undefined;
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
  readonly #wanted: string | undefined;
  #seq = 0;

  /** @param wanted the only run whose output is kept; by its id, or by that of an input of it. @default none */
  constructor(wanted?: string) {
    this.#wanted = wanted;
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
    const id = runOf(event.invocationId);
    const run = this.#runs.get(id);
    if (run === undefined) {
      if (event.type === 'invocation_start') this.#runs.set(id, begun(id, event));
      return;
    }
    if (event.type === 'user' && event.clientKey !== undefined) this.#joined.set(event.clientKey, id);
    else if (event.type === 'model_end') this.#runs.set(id, { ...run, use: useWith(run.use, event) });
    else if (isRoot(event.invocationId)) this.#runs.set(id, this.#rootAfter(run, event));
  }

  #rootAfter(run: RunOutline, event: Event): RunOutline {
    switch (event.type) {
      case 'invocation_yield':
        return { ...run, status: 'waiting', waitsFor: event.reason };
      case 'invocation_resume':
        return { ...run, status: 'running', waitsFor: undefined };
      case 'invocation_reopen':
        return { ...run, status: 'running', waitsFor: undefined, output: undefined, error: undefined, stopReason: undefined, endedAt: undefined };
      case 'invocation_end':
        return event.next === undefined ? this.#ended(run, event) : run;
      default:
        return run;
    }
  }

  #ended(run: RunOutline, { status, output, error, stopReason, at }: RunEnd): RunOutline {
    const isWanted = this.#wanted !== undefined && this.find(this.#wanted)?.id === run.id;
    return {
      ...run,
      status: status === 'transferred' ? 'completed' : status,
      waitsFor: undefined,
      output: isWanted ? output : undefined,
      error,
      stopReason,
      endedAt: at,
    };
  }
}

function begun(id: string, { name, kind, seq, at }: EventOf<'invocation_start'>): RunOutline {
  return { id, agent: name, kind, status: 'running', use: noUse, startSeq: seq, startedAt: at };
}
