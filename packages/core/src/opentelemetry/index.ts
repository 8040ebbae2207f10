import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { checkOptions } from '../base/invalid-option.ts';
import { isFlag, type OptionCheck, type OptionChecks } from '../base/options.ts';
import type { Middleware } from '../runnables/hooks.ts';
import type { Around, RunOperation } from '../runnables/operation.ts';
import { loadApi } from './load-api.ts';
import { quietly } from './quietly.ts';
import { RunTrace } from './run-trace.ts';
import { Telemetry } from './telemetry.ts';

export interface OpenTelemetryOptions {
  /**
   * Records the messages to and from models, arguments, results and messages of errors. A
   * `secret()` shows its name only; other secrets and personal data in texts are recorded as they
   * are. @default false
   */
  readonly content?: boolean;
  /** @default the one that is registered when a run begins */
  readonly tracerProvider?: TracerProvider;
  /** @default the one that is registered when a run begins */
  readonly meterProvider?: MeterProvider;
}

const hasMethod =
  (method: string): OptionCheck =>
  (value) =>
    typeof (value as { readonly [name: string]: unknown } | null)?.[method] === 'function'
      ? undefined
      : `a provider with the method ${method}()`;

const optionChecks: OptionChecks<OpenTelemetryOptions> = {
  content: isFlag,
  tracerProvider: hasMethod('getTracer'),
  meterProvider: hasMethod('getMeter'),
};

/**
 * Traces and measures runs with OpenTelemetry, for `runtime({ middleware })`: spans of runs,
 * invocations, rounds, model calls and tools, by the conventions for generative AI. The span of a
 * tool is active while the tool runs, and that of a model call while the provider is asked. Errors
 * of tracing are ignored, and no run fails for them. Without a registered SDK nothing is done.
 * @throws MissingPackageError when `@opentelemetry/api` is not installed
 * @throws InvalidOptionError
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Middleware {
  checkOptions('openTelemetry', options, optionChecks);
  const { content = false, tracerProvider, meterProvider } = options;
  const telemetry = new Telemetry(loadApi(), { content, tracerProvider, meterProvider });
  const traces = new WeakMap<RunOperation, RunTrace>();
  const around: Around = (operation, work) => {
    if (operation.type !== 'run') {
      const trace = traces.get(operation.run);
      return trace === undefined ? work() : trace.around(operation, work);
    }
    const trace = quietly(() => RunTrace.begin(telemetry, operation));
    if (trace === undefined) return work();
    traces.set(operation, trace);
    return trace.run(work);
  };
  return Object.freeze({ name: 'openTelemetry', around });
}
