import {
  type Event,
  type EventOf,
  isSuccess,
  type ModelOperation,
  type RunOperation,
} from 'adjutant';
import type { Counter, Histogram } from 'prom-client';
import { isRoot, runOf } from '../stream/run-state.ts';

/** Metrics of the work of runs. */
export interface Measured {
  readonly rounds: Histogram<'agent'>;
  readonly windows: Histogram<'agent' | 'model'>;
  readonly tokens: Counter<'agent' | 'direction'>;
  readonly toolCalls: Counter<'agent' | 'tool' | 'outcome'>;
}

interface OpenRound {
  readonly agent: string;
  readonly number: number;
  readonly startedAt: number;
}

/** The part of a run that this process carries out, measured by its events. */
export class ObservedRun {
  readonly #operation: RunOperation;
  readonly #measured: Measured;
  /** The round under way of each invocation. */
  readonly #rounds = new Map<string, OpenRound>();
  /** The request to a model that each invocation makes. */
  readonly #requests = new Map<string, ModelOperation>();
  #startedAt: number | undefined;
  #lastAt = 0;
  #end: 'completed' | 'error' | 'cancelled' | undefined;

  constructor(operation: RunOperation, measured: Measured) {
    this.#operation = operation;
    this.#measured = measured;
    this.#startedAt = operation.startedAt;
  }

  /** End of the run; `undefined` while it has none. */
  get end(): 'completed' | 'error' | 'cancelled' | undefined {
    return this.#end;
  }

  /** Milliseconds from the first event of the run to the last one. */
  get durationMs(): number {
    return this.#lastAt - (this.#startedAt ?? this.#lastAt);
  }

  asks(request: ModelOperation): void {
    this.#requests.set(request.invocationId, request);
  }

  hear(event: Event): void {
    const { runId } = this.#operation;
    if (event.invocationId === undefined || runOf(event.invocationId) !== runId) return;
    this.#startedAt ??= event.at;
    this.#lastAt = event.at;
    if (event.type === 'model_start') this.#roundBegins(event);
    else if (event.type === 'model_end') this.#modelEnds(event);
    else if (event.type === 'tool_result') this.#toolEnds(event);
    else if (event.type === 'invocation_yield') this.#roundEnds(event);
    else if (event.type === 'invocation_end') this.#invocationEnds(event);
  }

  #roundBegins({ invocationId, agent, round, at }: EventOf<'model_start'>): void {
    const open = this.#rounds.get(invocationId);
    if (open?.number === round) return;
    this.#roundEnds({ invocationId, at });
    this.#rounds.set(invocationId, { agent, number: round, startedAt: at });
  }

  #roundEnds({ invocationId, at }: { readonly invocationId: string; readonly at: number }): void {
    const open = this.#rounds.get(invocationId);
    if (open === undefined) return;
    this.#rounds.delete(invocationId);
    this.#measured.rounds.observe({ agent: open.agent }, (at - open.startedAt) / 1_000);
  }

  #modelEnds({ invocationId, usage, estimated }: EventOf<'model_end'>): void {
    const { tokens, windows } = this.#measured;
    const { name } = this.#operation;
    tokens.inc({ agent: name, direction: 'input' }, usage.inputTokens);
    tokens.inc({ agent: name, direction: 'output' }, usage.outputTokens);
    const request = this.#requests.get(invocationId);
    this.#requests.delete(invocationId);
    if (request === undefined || estimated === true || usage.inputTokens === 0) return;
    const { agent, provider, modelId, contextWindow } = request;
    const model = `${provider}:${modelId}`;
    windows.observe({ agent, model }, usage.inputTokens / contextWindow);
  }

  #toolEnds({ name, attempt, settled, late, result }: EventOf<'tool_result'>): void {
    // Models make up names of tools; what was attempted exists.
    if (attempt === 0 || !settled || late === true) return;
    const outcome = isSuccess(result) ? 'success' : 'failure';
    this.#measured.toolCalls.inc({ agent: this.#operation.name, tool: name, outcome });
  }

  #invocationEnds(event: EventOf<'invocation_end'>): void {
    this.#roundEnds(event);
    if (!isRoot(event.invocationId) || event.next !== undefined) return;
    this.#end = event.status === 'transferred' ? 'completed' : event.status;
  }
}
