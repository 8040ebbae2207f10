import type { Run, Runtime } from 'adjutant';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { registerEngineMetrics } from './engine-metrics.ts';
import { RunMetrics } from './run-metrics.ts';

/** Transport by which a stream reaches its client. */
export type StreamKind = 'sse' | 'socket';

/** One request that was answered. */
export interface ServedRequest {
  readonly method: string;
  /**
   * The route's pattern, such as `/v1/sessions/{session}`: paths of single things would be too
   * many.
   */
  readonly route: string;
  readonly status: number;
  /** Milliseconds from the request to the head of the answer. */
  readonly duration: number;
}

/** Counts the pending requests by their kinds. */
export type CountWaiting = () => Promise<ReadonlyMap<string, number>>;

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Metrics of a server in a registry of its own, so that several servers of a process do not mix.
 */
export class ServerMetrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'method' | 'route' | 'status'>;
  readonly #durations: Histogram<'method' | 'route'>;
  readonly #streams: Gauge<'kind'>;
  readonly #events: Counter<'kind'>;
  readonly #runs: RunMetrics;
  readonly #unobserve: () => void;
  #hasProcess = false;

  /**
   * @param countWaiting asked when the metrics are read
   * @param app its runs are measured; its engine and its open circuits are shown
   */
  constructor(countWaiting: CountWaiting, app: Pick<Runtime, 'circuits' | 'recovery' | 'streams'>) {
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
    this.#streams = new Gauge({
      name: 'adjutant_streams_open',
      help: 'Streams that clients follow now.',
      labelNames: ['kind'],
      registers,
    });
    this.#events = new Counter({
      name: 'adjutant_stream_events_total',
      help: 'Events sent on streams.',
      labelNames: ['kind'],
      registers,
    });
    this.#runs = new RunMetrics(this.#registry);
    this.#unobserve = app.streams.observe(this.#runs.around);
    registerEngineMetrics(registers, app);
    new Gauge({
      name: 'adjutant_circuits_open',
      help: 'Tools that are left alone because they failed too often in a row: 1 for each.',
      labelNames: ['tool', 'state'],
      registers,
      collect() {
        this.reset();
        for (const { tool, state } of app.circuits) this.set({ tool, state }, 1);
      },
    });
    new Gauge({
      name: 'adjutant_requests_waiting',
      help:
        "Questions to somebody outside that wait for an answer, of the server's own tenant; " +
        'at most 1,000 are counted.',
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

  requestServed({ method, route, status, duration }: ServedRequest): void {
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

  /**
   * Counts a run that was asked for here if it is rejected before this process works on it. No
   * failure of the run is its own.
   */
  runAsked(agent: string, runId: string, run: Pick<Run, 'then'>): void {
    this.#runs.asked(agent, runId, run);
  }

  /** Ends the measuring of runs that begin later. */
  close(): void {
    this.#unobserve();
  }

  /** All metrics as Prometheus reads them. */
  text(): Promise<string> {
    if (!this.#hasProcess) {
      this.#hasProcess = true;
      // Only on the first request for metrics: it watches the garbage collector and the event loop.
      collectDefaultMetrics({ register: this.#registry });
    }
    return this.#registry.metrics();
  }
}
