/**
 * Traces and metrics with OpenTelemetry: a run is a part of the request that asked for it, and goes
 * on in another trace that is linked to it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { agent, agentTool, memoryStore, runtime, tool } from 'adjutant';
import { openTelemetry } from 'adjutant/opentelemetry';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

// A collector: it takes what the exporters of OpenTelemetry send as JSON (OTLP/HTTP), and keeps it.
interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly boolValue?: boolean;
    readonly intValue?: number | string;
    readonly doubleValue?: number;
  };
}
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly spanId: string }[];
  readonly status: { readonly code?: number };
}
interface SentTraces {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}
interface SentPoint {
  readonly attributes: readonly Attribute[];
  readonly sum?: number;
}
interface SentMetrics {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly histogram?: { readonly dataPoints: readonly SentPoint[] };
      }[];
    }[];
  }[];
}
const spans: SentSpan[] = [];
const points: { readonly metric: string; readonly point: SentPoint }[] = [];
const collector = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body: unknown = JSON.parse(Buffer.concat(parts).toString());
  if (request.url === '/v1/traces') {
    spans.push(
      ...(body as SentTraces).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
  } else {
    for (const { name, histogram } of (body as SentMetrics).resourceMetrics.flatMap(
      ({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics),
    ))
      for (const point of histogram?.dataPoints ?? []) points.push({ metric: name, point });
  }
  response.setHeader('content-type', 'application/json').end('{}');
}).listen(0, '127.0.0.1');
await once(collector, 'listening');
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

// Start of any application that is traced: the exporters send to the collector.
const tracerProvider = new TracerProvider({
  spanProcessors: [
    new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }) }),
  ],
});
const reader = new PeriodicExportingMetricReader({
  exporter: new OTLPMetricExporter({ url: `${endpoint}/v1/metrics` }),
});
const meterProvider = new MeterProvider({ readers: [reader] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(tracerProvider);
metrics.setGlobalMeterProvider(meterProvider);
const tracer = trace.getTracer('shop');

const stock = tool({
  name: 'stock',
  description: 'Looks up what is in stock',
  schema: z.object({ item: z.string() }),
  readOnly: true,
  // As the instrumentation of an HTTP client would do: the span of the tool is active.
  execute: ({ args }) =>
    tracer.startActiveSpan('GET /stock', (span) => {
      span.end();
      return { item: args.item, left: 3 };
    }),
});
const buyer = agent({
  name: 'buyer',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel([
    { toolCalls: [{ name: 'stock', args: { item: 'lamp' } }] },
    { text: 'Three lamps are left.' },
  ]),
  tools: [stock],
});
const order = tool({
  name: 'order',
  description: 'Orders an item',
  schema: z.object({ item: z.string() }),
  approval: true,
  execute: () => 'ordered',
});
const clerk = agent({
  name: 'clerk',
  model: scriptedModel([
    { toolCalls: [{ name: 'ask_buyer', args: { message: 'Are there lamps?' } }] },
    { toolCalls: [{ name: 'order', args: { item: 'lamp' } }] },
    { text: 'The lamp is on its way.' },
  ]),
  tools: [agentTool(buyer, { name: 'ask_buyer', description: 'Asks the buyer' }), order],
});

// Two processes on one store: one begins, the other goes on once somebody has allowed the order.
const store = memoryStore();
const newProcess = () =>
  runtime({
    app: 'shop',
    store: keptOpen(store),
    recover: 'manual',
    runnables: [clerk, buyer],
    middleware: [openTelemetry()],
  });

const first = newProcess();
const waiting = await tracer.startActiveSpan('POST /orders', async (span) => {
  const result = await first.run(clerk, { input: 'I would like a lamp', session: 'order-1' });
  span.end();
  return result;
});
assert.equal(waiting.status, 'yielded');
await first.close();

const second = newProcess();
const [request] = waiting.pendingApprovals;
assert.ok(request?.requestId);
await second.requests.approve(request.requestId);
const done = await tracer.startActiveSpan('POST /approvals', async (span) => {
  const result = await second.resume('order-1');
  span.end();
  return result;
});
assert.equal(done.output, 'The lamp is on its way.');
await second.close();

await tracerProvider.shutdown();
await meterProvider.shutdown();
collector.close();

// The received spans, as trees.
function attributeOf({ attributes }: SentSpan | SentPoint, key: string): string | undefined {
  const value = attributes.find((attribute) => attribute.key === key)?.value;
  const given = value?.stringValue ?? value?.boolValue ?? value?.intValue ?? value?.doubleValue;
  return given === undefined ? undefined : String(given);
}
function treeOf(parent: string | undefined, indent = ''): string[] {
  return spans
    .filter(({ parentSpanId = '' }) => parentSpanId === (parent ?? ''))
    .flatMap((span) => {
      const status = attributeOf(span, 'adjutant.status') === 'yielded' ? ' (yielded)' : '';
      return [`${indent}${span.name}${status}`, ...treeOf(span.spanId, `${indent}  `)];
    });
}
const tree = treeOf(undefined);
for (const line of tree) console.log(line);
assert.deepEqual(tree, [
  'POST /orders',
  '  run clerk (yielded)',
  '    invoke_agent clerk (yielded)',
  '      round',
  '        chat scripted',
  '        execute_tool ask_buyer',
  '          invoke_agent buyer',
  '            round',
  '              chat scripted',
  '              execute_tool stock',
  '                GET /stock',
  '            round',
  '              chat scripted',
  '      round',
  '        chat scripted',
  'POST /approvals',
  '  run clerk',
  '    invoke_agent clerk',
  '      execute_tool order',
  '      round',
  '        chat scripted',
]);

// The run goes on in the trace of whoever answered, and says which span it continues; its session
// is the same.
const [begun, continued] = spans.filter(({ name }) => name === 'run clerk');
assert.ok(begun && continued);
assert.notEqual(begun.traceId, continued.traceId);
assert.deepEqual(
  continued.links?.map(({ spanId }) => spanId),
  [begun.spanId],
);
assert.equal(attributeOf(begun, 'gen_ai.conversation.id'), 'order-1');
assert.equal(attributeOf(continued, 'gen_ai.conversation.id'), 'order-1');

// Nothing that was said has left the process.
assert.ok(!JSON.stringify(spans).includes('lamp'));

const tokens = points
  .filter(({ metric }) => metric === 'gen_ai.client.token.usage')
  .map(({ point }) => [attributeOf(point, 'gen_ai.token.type'), point.sum]);
console.log(`tokens: ${JSON.stringify(tokens)}`);
assert.deepEqual(tokens, [
  ['input', 50],
  ['output', 25],
]);
