import type { SpanStatusCode } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
  type TracerProviderOptions,
} from '@opentelemetry/sdk-trace';

/** Spans that are kept in memory, by the real SDK. */
export function recordedSpans(options: TracerProviderOptions = {}) {
  const exporter = new InMemorySpanExporter();
  // Times of spans begin at whole milliseconds.
  const begun: string[] = [];
  const order: SpanProcessor = {
    onStart: (span) => void begun.push(span.spanContext().spanId),
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const tracerProvider = new TracerProvider({
    ...options,
    spanProcessors: [order, new SimpleSpanProcessor({ exporter })],
  });
  /** All that have ended so far, in the order in which they began. */
  const spans = async (): Promise<readonly ReadableSpan[]> => {
    await tracerProvider.forceFlush();
    const placeOf = (span: ReadableSpan): number => begun.indexOf(span.spanContext().spanId);
    return exporter.getFinishedSpans().toSorted((one, other) => placeOf(one) - placeOf(other));
  };
  return { tracerProvider, spans, tree: async () => treeOf(await spans()) };
}

const failed: SpanStatusCode.ERROR = 2;

/** Names of spans, each below its parent; with what says that they did not simply succeed. */
function treeOf(spans: readonly ReadableSpan[], parent?: string, indent = ''): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const isBelow = ({ parentSpanContext: above }: ReadableSpan): boolean =>
    parent === undefined ? above === undefined || !ids.has(above.spanId) : above?.spanId === parent;
  return spans
    .filter(isBelow)
    .flatMap((span) => [
      `${indent}${lineOf(span)}`,
      ...treeOf(spans, span.spanContext().spanId, `${indent}  `),
    ]);
}

function lineOf({ name, status, attributes }: ReadableSpan): string {
  const said = attributes['adjutant.status'];
  const error = status.code === failed ? ` !${String(attributes['error.type'])}` : '';
  const isPlain = said === undefined || said === 'completed' || said === 'success' || error !== '';
  return `${name}${isPlain ? '' : ` (${String(said)})`}${error}`;
}

/** The only span of a name. */
export function spanOf(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const found = spans.filter((span) => span.name === name);
  if (found.length !== 1)
    throw new Error(
      `There are ${found.length} spans "${name}": ${spans.map((span) => span.name).join(', ')}`,
    );
  return found[0] as ReadableSpan;
}
