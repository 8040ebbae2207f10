import { type EventOf, isSuccess, type StoredEvent } from 'adjutant';
import type { UsageFilter } from './session-usage.ts';

interface Sum {
  count: number;
  failed: number;
  durationMs: number;
  longestMs: number;
}

/** Calls of tools and rounds of agents, by their names. */
export class WorkSums {
  readonly #tools = new Map<string, Sum>();
  readonly #rounds = new Map<string, Sum>();

  toolEnds(tool: string, durationMs: number, isFailure: boolean): void {
    count(this.#tools, tool, durationMs, isFailure);
  }

  roundEnds(agent: string, durationMs: number): void {
    count(this.#rounds, agent, durationMs, false);
  }

  /** Adds the sums of a session. */
  add({ sums }: SessionWork): void {
    addAll(this.#tools, sums.#tools);
    addAll(this.#rounds, sums.#rounds);
  }

  get tools() {
    return named(this.#tools).map(([tool, { count: calls, failed, durationMs, longestMs }]) => ({
      ...{ tool, calls, failed, durationMs, longestMs },
    }));
  }

  get rounds() {
    return named(this.#rounds).map(([agent, { count: rounds, durationMs, longestMs }]) => ({
      ...{ agent, rounds, durationMs, longestMs },
    }));
  }
}

function count(sums: Map<string, Sum>, name: string, durationMs: number, isFailure: boolean): void {
  addAll(
    sums,
    new Map([[name, { count: 1, failed: isFailure ? 1 : 0, durationMs, longestMs: durationMs }]]),
  );
}

function addAll(sums: Map<string, Sum>, more: ReadonlyMap<string, Sum>): void {
  for (const [name, sum] of more) {
    const before = sums.get(name) ?? { count: 0, failed: 0, durationMs: 0, longestMs: 0 };
    sums.set(name, {
      count: before.count + sum.count,
      failed: before.failed + sum.failed,
      durationMs: before.durationMs + sum.durationMs,
      longestMs: Math.max(before.longestMs, sum.longestMs),
    });
  }
}

function named(sums: ReadonlyMap<string, Sum>): [string, Sum][] {
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

interface OpenRound {
  readonly agent: string;
  readonly round: number;
  readonly startedAt: number;
}

/**
 * Work of a session, folded from its events. Events that a fork shares with another session are
 * not counted again.
 */
export class SessionWork {
  readonly #session: string;
  readonly #filter: UsageFilter;
  /** Agents of the calls that have no result yet. */
  readonly #calls = new Map<string, string>();
  /** The round under way of each invocation. */
  readonly #rounds = new Map<string, OpenRound>();
  #sums = new WorkSums();

  constructor(session: string, filter: UsageFilter) {
    this.#session = session;
    this.#filter = filter;
  }

  get sums(): WorkSums {
    return this.#sums;
  }

  hear(event: StoredEvent): void {
    if (event.type === 'decision') {
      if (event.component === 'fork' && event.data?.['session'] === this.#session)
        this.#sums = new WorkSums();
    } else if (event.type === 'tool_call') this.#calls.set(event.callId, event.agent);
    else if (event.type === 'tool_result') this.#toolEnds(event);
    else if (event.type === 'model_start') this.#roundBegins(event);
    else if (event.type === 'invocation_yield' || event.type === 'invocation_end')
      this.#roundEnds(event);
  }

  #toolEnds({ callId, name, attempt, settled, late, result, durationMs, at }: ToolResult): void {
    if (attempt === 0 || !settled || late === true) return;
    const agent = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (this.#isCounted(at, agent)) this.#sums.toolEnds(name, durationMs, !isSuccess(result));
  }

  #roundBegins({ invocationId, agent, round, at }: EventOf<'model_start'>): void {
    if (this.#rounds.get(invocationId)?.round === round) return;
    this.#roundEnds({ invocationId, at });
    this.#rounds.set(invocationId, { agent, round, startedAt: at });
  }

  #roundEnds({ invocationId, at }: { readonly invocationId: string; readonly at: number }): void {
    const open = this.#rounds.get(invocationId);
    if (open === undefined) return;
    this.#rounds.delete(invocationId);
    if (this.#isCounted(at, open.agent)) this.#sums.roundEnds(open.agent, at - open.startedAt);
  }

  #isCounted(at: number, by: string | undefined): boolean {
    const { agent, from = 0, to = Number.POSITIVE_INFINITY } = this.#filter;
    return at >= from && at < to && (agent === undefined || agent === by);
  }
}

type ToolResult = EventOf<'tool_result'>;
