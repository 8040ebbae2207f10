import { runtime } from 'adjutant';
import { type OpenTelemetryOptions, openTelemetry } from 'adjutant/opentelemetry';
import type { ScriptedResponse } from 'adjutant/testing';
import { recordedSpans } from './span-tree.ts';

export const schema = { type: 'object' } as const;
export const calls = (...names: readonly string[]): ScriptedResponse => ({
  toolCalls: names.map((name) => ({ name, args: {} })),
});
export const says = (text: string): ScriptedResponse => ({ text });

export function traced(options: Omit<OpenTelemetryOptions, 'tracerProvider'> = {}) {
  const recorded = recordedSpans();
  const middleware = [openTelemetry({ ...options, tracerProvider: recorded.tracerProvider })];
  return {
    ...recorded,
    tracer: recorded.tracerProvider.getTracer('test'),
    app: runtime({ app: 'test', middleware }),
  };
}
