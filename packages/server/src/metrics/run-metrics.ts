import type { Run, RunResult } from 'adjutant';
import { Counter, Histogram, type Registry } from 'prom-client';

const durationBuckets = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];

/** Counts the runs that are asked for through a process, and what they used when they end in it. */
export class RunMetrics {
  readonly #started: Counter<'agent'>;
  readonly #ended: Counter<'agent' | 'status'>;
  readonly #durations: Histogram<'agent'>;
  readonly #tokens: Counter<'agent' | 'direction'>;
  readonly #toolCalls: Counter<'agent' | 'tool' | 'outcome'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#started = new Counter({
      name: 'adjutant_runs_started_total',
      help: 'Runs that were asked for through this process.',
      labelNames: ['agent'],
      registers,
    });
    this.#ended = new Counter({
      name: 'adjutant_runs_ended_total',
      help:
        'Runs asked for through this process that came to rest in it, by how: completed, ' +
        'error, cancelled or yielded. Rejected: they could not be carried out here.',
      labelNames: ['agent', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'adjutant_run_duration_seconds',
      help:
        'Time from the first event of a run to its last, of runs asked for through this ' +
        'process that ended in it.',
      labelNames: ['agent'],
      buckets: durationBuckets,
      registers,
    });
    this.#tokens = new Counter({
      name: 'adjutant_model_tokens_total',
      help: 'Tokens of models in runs asked for through this process that ended in it.',
      labelNames: ['agent', 'direction'],
      registers,
    });
    this.#toolCalls = new Counter({
      name: 'adjutant_tool_calls_total',
      help:
        'Calls of tools that were made in runs asked for through this process that ended in ' +
        'it: success or failure.',
      labelNames: ['agent', 'tool', 'outcome'],
      registers,
    });
  }

  /** Counts a run now, and again when it comes to rest. */
  started(agent: string, run: Pick<Run, 'then'>): void {
    this.#started.inc({ agent });
    void run.then(
      (result) => this.#rests(agent, result),
      () => this.#ended.inc({ agent, status: 'rejected' }),
    );
  }

  #rests(agent: string, { status, usage, durationMs, toolCalls }: RunResult): void {
    this.#ended.inc({ agent, status });
    // Usage of the run is counted at its end.
    if (status === 'yielded') return;
    this.#durations.observe({ agent }, durationMs / 1_000);
    this.#tokens.inc({ agent, direction: 'input' }, usage.inputTokens);
    this.#tokens.inc({ agent, direction: 'output' }, usage.outputTokens);
    for (const { name, success, attempts } of toolCalls) {
      // Models make up names of tools; what was attempted exists.
      if (attempts > 0)
        this.#toolCalls.inc({ agent, tool: name, outcome: success ? 'success' : 'failure' });
    }
  }
}
