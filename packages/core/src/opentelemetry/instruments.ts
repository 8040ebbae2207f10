import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import type { EventOf } from '../ledger/event.ts';

const tokenBoundaries = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
];
const shareBoundaries = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1];
const secondBoundaries = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/** The measurements of model calls, tools and agents. */
export class Instruments {
  readonly #tokens: Histogram;
  readonly #calls: Histogram;
  readonly #firstChunks: Histogram;
  readonly #tools: Histogram;
  readonly #agents: Histogram;
  readonly #rounds: Histogram;
  readonly #roundTimes: Histogram;
  readonly #windows: Histogram;

  constructor(meter: Meter) {
    const seconds = (name: string, description: string): Histogram =>
      meter.createHistogram(name, {
        description,
        unit: 's',
        advice: { explicitBucketBoundaries: secondBoundaries },
      });
    this.#tokens = meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Tokens that model calls used',
      unit: '{token}',
      advice: { explicitBucketBoundaries: tokenBoundaries },
    });
    this.#calls = seconds('gen_ai.client.operation.duration', 'Time that model calls took');
    this.#firstChunks = seconds(
      'gen_ai.client.operation.time_to_first_chunk',
      'Time to the first part of an answer',
    );
    this.#tools = seconds('gen_ai.execute_tool.duration', 'Time that tools took');
    this.#agents = seconds(
      'gen_ai.invoke_agent.duration',
      'Time that agents took, without the time in which nobody worked on them',
    );
    this.#rounds = meter.createHistogram('adjutant.invoke_agent.rounds', {
      description: 'Rounds that agents took, in one go',
      unit: '{round}',
      advice: { explicitBucketBoundaries: [1, 2, 3, 5, 8, 13, 21, 34] },
    });
    this.#roundTimes = seconds(
      'adjutant.invoke_agent.round.duration',
      'Time that rounds of agents took, in one go',
    );
    this.#windows = meter.createHistogram('adjutant.context_window.utilization', {
      description: "Share of the model's context window that a prompt took",
      unit: '1',
      advice: { explicitBucketBoundaries: shareBoundaries },
    });
  }

  model(
    attributes: Attributes,
    { usage, estimated, durationMs, timeToFirstTokenMs }: EventOf<'model_end'>,
    { contextWindow, errorType }: { readonly contextWindow: number; readonly errorType?: string },
  ): void {
    this.#calls.record(
      durationMs / 1_000,
      errorType === undefined ? attributes : { ...attributes, 'error.type': errorType },
    );
    if (timeToFirstTokenMs !== undefined)
      this.#firstChunks.record(timeToFirstTokenMs / 1_000, attributes);
    if (estimated === true) return;
    if (usage.inputTokens > 0) this.#windows.record(usage.inputTokens / contextWindow, attributes);
    this.#tokens.record(usage.inputTokens, { ...attributes, 'gen_ai.token.type': 'input' });
    this.#tokens.record(usage.outputTokens, { ...attributes, 'gen_ai.token.type': 'output' });
  }

  round(attributes: Attributes, durationMs: number): void {
    this.#roundTimes.record(durationMs / 1_000, attributes);
  }

  tool(attributes: Attributes, durationMs: number): void {
    this.#tools.record(durationMs / 1_000, attributes);
  }

  agent(attributes: Attributes, durationMs: number, rounds: number): void {
    this.#agents.record(durationMs / 1_000, attributes);
    this.#rounds.record(rounds, attributes);
  }
}
