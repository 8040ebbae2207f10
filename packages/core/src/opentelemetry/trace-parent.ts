import type { SpanContext } from '@opentelemetry/api';

const form = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/;

/** A span's place as a W3C `traceparent`. */
export function traceParentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The span that a `traceparent` names; `undefined` when it is none. */
export function spanOfTraceParent(traceParent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = form.exec(traceParent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
