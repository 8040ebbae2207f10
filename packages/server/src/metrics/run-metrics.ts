import type { Operation, Run, RunOperation } from 'adjutant';
import { Counter, Histogram, type Registry } from 'prom-client';
import { type Measured, ObservedRun } from './observed-run.ts';

const durationBuckets = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];
const shareBuckets = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1];

/**
 * Measures the runs that this process carries out, whoever asked for them: also those that the app
 * found and continues by itself.
 */
export class RunMetrics {
  readonly #started: Counter<'agent'>;
  readonly #continued: Counter<'agent' | 'by'>;
  readonly #ended: Counter<'agent' | 'status'>;
  readonly #durations: Histogram<'agent'>;
  readonly #measured: Measured;
  readonly #runs = new WeakMap<RunOperation, ObservedRun>();
  /** Runs that were asked for here, by their ids: true once this process works on them. */
  readonly #asked = new Map<string, boolean>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#started = new Counter({
      name: 'adjutant_runs_started_total',
      help: 'Runs that began in this process.',
      labelNames: ['agent'],
      registers,
    });
    this.#continued = new Counter({
      name: 'adjutant_runs_continued_total',
      help:
        'Times that this process went on with a run: because somebody asked for it (request), ' +
        'or because the app found it (recovery).',
      labelNames: ['agent', 'by'],
      registers,
    });
    this.#ended = new Counter({
      name: 'adjutant_runs_ended_total',
      help:
        'Runs that came to rest in this process, by how: completed, error, cancelled or ' +
        'yielded. Rejected: they could not be carried out here.',
      labelNames: ['agent', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'adjutant_run_duration_seconds',
      help: 'Time from the first event of a run to its last, of runs that ended in this process.',
      labelNames: ['agent'],
      buckets: durationBuckets,
      registers,
    });
    this.#measured = workMetrics(registers);
  }

  /** Counts the run as rejected when this process never begins to work on it. */
  asked(agent: string, runId: string, run: Pick<Run, 'then'>): void {
    this.#asked.set(runId, false);
    void run.then(
      () => this.#asked.delete(runId),
      () => {
        if (this.#asked.get(runId) === false) this.#ended.inc({ agent, status: 'rejected' });
        this.#asked.delete(runId);
      },
    );
  }

  /** Carries out a piece of work of a run, and measures it. For `app.streams.observe`. */
  readonly around = <Result>(operation: Operation, work: () => Result): Result => {
    if (operation.type === 'run') return this.#run(operation, work);
    if (operation.type === 'model') this.#runs.get(operation.run)?.asks(operation);
    return work();
  };

  #run<Result>(operation: RunOperation, work: () => Result): Result {
    const { name: agent, runId, continued, asked } = operation;
    if (this.#asked.has(runId)) this.#asked.set(runId, true);
    if (continued) this.#continued.inc({ agent, by: asked ? 'request' : 'recovery' });
    else this.#started.inc({ agent });
    const observed = new ObservedRun(operation, this.#measured);
    this.#runs.set(operation, observed);
    operation.listen((event) => observed.hear(event));
    const result = work();
    if (result instanceof Promise)
      result.then(
        () => this.#rests(agent, observed),
        () => this.#ended.inc({ agent, status: 'rejected' }),
      );
    return result;
  }

  #rests(agent: string, { end, durationMs }: ObservedRun): void {
    this.#ended.inc({ agent, status: end ?? 'yielded' });
    if (end !== undefined) this.#durations.observe({ agent }, durationMs / 1_000);
  }
}

function workMetrics(registers: Registry[]): Measured {
  return {
    rounds: new Histogram({
      name: 'adjutant_round_duration_seconds',
      help: 'Time of rounds of agents in one go, from the model call to the end of its tools.',
      labelNames: ['agent'],
      buckets: durationBuckets,
      registers,
    }),
    windows: new Histogram({
      name: 'adjutant_context_window_ratio',
      help: "Share of the model's context window that a prompt took, where tokens are reported.",
      labelNames: ['agent', 'model'],
      buckets: shareBuckets,
      registers,
    }),
    tokens: new Counter({
      name: 'adjutant_model_tokens_total',
      help: 'Tokens of the models that this process called, by the agent that was run.',
      labelNames: ['agent', 'direction'],
      registers,
    }),
    toolCalls: new Counter({
      name: 'adjutant_tool_calls_total',
      help: 'Calls of tools that ended in this process, by the agent that was run and how.',
      labelNames: ['agent', 'tool', 'outcome'],
      registers,
    }),
  };
}
