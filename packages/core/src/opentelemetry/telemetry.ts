import type {
  Attributes,
  Context,
  Link,
  MeterProvider,
  SpanKind,
  TracerProvider,
} from '@opentelemetry/api';
import { systemClock } from '../base/clock.ts';
import { defined } from '../base/defined.ts';
import type { EventOf } from '../ledger/event.ts';
import type { ModelOperation } from '../runnables/operation.ts';
import { providerName, schemaUrl } from './attributes.ts';
import { Instruments } from './instruments.ts';
import type { OpenTelemetryApi } from './load-api.ts';
import { OpenSpan } from './open-span.ts';

const scope = 'adjutant';

/** The parts for tracing runs. */
export class Telemetry {
  readonly api: OpenTelemetryApi;
  /** True when messages, arguments and results are recorded. */
  readonly content: boolean;
  /** Key under which a context holds the trace of its run. */
  readonly key: symbol;
  readonly #tracers: TracerProvider | undefined;
  readonly #meters: MeterProvider | undefined;
  #measuring:
    | { readonly provider: MeterProvider; readonly instruments: Instruments | undefined }
    | undefined;

  constructor(
    api: OpenTelemetryApi,
    options: {
      readonly content: boolean;
      readonly tracerProvider: TracerProvider | undefined;
      readonly meterProvider: MeterProvider | undefined;
    },
  ) {
    this.api = api;
    this.content = options.content;
    this.key = api.createContextKey('adjutant run');
    this.#tracers = options.tracerProvider;
    this.#meters = options.meterProvider;
  }

  start(
    name: string,
    parent: Context,
    options: { readonly attributes: Attributes; readonly links?: Link[]; readonly kind?: SpanKind },
  ): OpenSpan {
    const tracer = (this.#tracers ?? this.api.trace.getTracerProvider()).getTracer(
      scope,
      undefined,
      { schemaUrl },
    );
    return new OpenSpan(
      this.api,
      tracer.startSpan(name, options, parent),
      parent,
      systemClock.monotonic(),
    );
  }

  /** Of the provider that is registered now; `undefined` when there is none. */
  get instruments(): Instruments | undefined {
    const provider = this.#meters ?? this.api.metrics.getMeterProvider();
    if (this.#measuring?.provider !== provider) {
      const meter = provider.getMeter(scope, undefined, { schemaUrl });
      this.#measuring = {
        provider,
        instruments: meter === this.api.createNoopMeter() ? undefined : new Instruments(meter),
      };
    }
    return this.#measuring.instruments;
  }

  measureModel(
    { provider, modelId, contextWindow }: ModelOperation,
    event: EventOf<'model_end'>,
    errorType: string | undefined,
  ): void {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerName(provider),
      'gen_ai.request.model': modelId,
    };
    this.instruments?.model(attributes, event, { contextWindow, ...defined({ errorType }) });
  }
}
