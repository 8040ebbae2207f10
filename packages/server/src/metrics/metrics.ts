import type { Run, RunResult } from 'adjutant';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** How a stream reaches its client. */
export type StreamKind = 'sse' | 'socket';

/** One request that was answered. */
export interface AnsweredRequest {
  readonly method: string;
  /** The route's pattern, such as `/v1/sessions/:session`: paths of single things would be too many. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds from the request to the head of the answer. */
  readonly duration: number;
}

/** Counts the requests that wait for somebody, by their kinds. */
export type CountWaiting = () => Promise<ReadonlyMap<string, number>>;

/** What is counted of a run is its result. */
type CountedRun = Pick<Run, 'then'>;

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const runBuckets = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];

/** What a server counts, in a registry of its own, so that several servers of a process do not mix. */
export class ServerMetrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'method' | 'route' | 'status'>;
  readonly #durations: Histogram<'method' | 'route'>;
  readonly #streams: Gauge<'kind'>;
  readonly #events: Counter<'kind'>;
  readonly #runsStarted: Counter<'agent'>;
  readonly #runsEnded: Counter<'agent' | 'status'>;
  readonly #runDurations: Histogram<'agent'>;
  readonly #tokens: Counter<'agent' | 'direction'>;
  readonly #toolCalls: Counter<'agent' | 'tool' | 'outcome'>;
  #hasProcess = false;

  /** @param countWaiting asked when the metrics are read */
  constructor(countWaiting: CountWaiting) {
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: 'adjutant_http_requests_total',
      help: 'Requests that were answered.',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'adjutant_http_request_duration_seconds',
      help: 'Time from a request to the head of its answer.',
      labelNames: ['method', 'route'],
      buckets: durationBuckets,
      registers,
    });
    this.#streams = new Gauge({ name: 'adjutant_streams_open', help: 'Streams that clients follow now.', labelNames: ['kind'], registers });
    this.#events = new Counter({ name: 'adjutant_stream_events_total', help: 'Events sent on streams.', labelNames: ['kind'], registers });
    this.#runsStarted = new Counter({
      name: 'adjutant_runs_started_total',
      help: 'Runs that were asked for through this process.',
      labelNames: ['agent'],
      registers,
    });
    this.#runsEnded = new Counter({
      name: 'adjutant_runs_ended_total',
      help: 'Runs asked for through this process that came to rest in it, by how: completed, error, cancelled or yielded. Rejected: they could not be carried out here.',
      labelNames: ['agent', 'status'],
      registers,
    });
    this.#tokens = new Counter({
      name: 'adjutant_model_tokens_total',
      help: 'Tokens of models in runs asked for through this process that ended in it.',
      labelNames: ['agent', 'direction'],
      registers,
    });
    this.#runDurations = new Histogram({
      name: 'adjutant_run_duration_seconds',
      help: 'Time from the first event of a run to its last, of runs asked for through this process that ended in it.',
      labelNames: ['agent'],
      buckets: runBuckets,
      registers,
    });
    this.#toolCalls = new Counter({
      name: 'adjutant_tool_calls_total',
      help: 'Calls of tools that were made in runs asked for through this process that ended in it: success or failure.',
      labelNames: ['agent', 'tool', 'outcome'],
      registers,
    });
    new Gauge({
      name: 'adjutant_requests_waiting',
      help: "Questions to somebody outside that wait for an answer, of the server's own tenant; at most 1,000 are counted.",
      labelNames: ['kind'],
      registers,
      async collect() {
        // A store that does not answer must not take the other metrics along.
        const counted = await countWaiting().catch(() => new Map<string, number>());
        this.reset();
        for (const [kind, count] of counted) this.set({ kind }, count);
      },
    });
  }

  /** Media type of `text`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  requestAnswered({ method, route, status, duration }: AnsweredRequest): void {
    this.#requests.inc({ method, route, status });
    this.#durations.observe({ method, route }, duration / 1_000);
  }

  /** A client began to follow. */
  streamOpened(kind: StreamKind): void {
    this.#streams.inc({ kind });
  }

  /** A client follows no longer. */
  streamClosed(kind: StreamKind): void {
    this.#streams.dec({ kind });
  }

  eventSent(kind: StreamKind): void {
    this.#events.inc({ kind });
  }

  /** Counts a run now, and again when it comes to rest. Never keeps the process from ending, and no failure of the run is its own. */
  runStarted(agent: string, run: CountedRun): void {
    this.#runsStarted.inc({ agent });
    void run.then(
      (result) => this.#runRests(agent, result),
      () => this.#runsEnded.inc({ agent, status: 'rejected' }),
    );
  }

  #runRests(agent: string, { status, usage, durationMs, toolCalls }: RunResult): void {
    this.#runsEnded.inc({ agent, status });
    // What it used is counted at its end.
    if (status === 'yielded') return;
    this.#runDurations.observe({ agent }, durationMs / 1_000);
    this.#tokens.inc({ agent, direction: 'input' }, usage.inputTokens);
    this.#tokens.inc({ agent, direction: 'output' }, usage.outputTokens);
    for (const { name, success, attempts } of toolCalls) {
      // Models make up names of tools; what was attempted exists.
      if (attempts > 0) this.#toolCalls.inc({ agent, tool: name, outcome: success ? 'success' : 'failure' });
    }
  }

  /** All metrics as Prometheus reads them. */
  text(): Promise<string> {
    if (!this.#hasProcess) {
      this.#hasProcess = true;
      // Not before somebody asks: it watches the garbage collector and the event loop.
      collectDefaultMetrics({ register: this.#registry });
    }
    return this.#registry.metrics();
  }
}
