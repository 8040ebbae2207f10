import { execFileSync } from 'node:child_process';
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { agent, runtime, tool } from 'adjutant';
import { openTelemetry } from 'adjutant/opentelemetry';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

function measured() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  /** Each point of a histogram: what it is of, how many values, and their sum. */
  const pointsOf = async (
    metric: string,
  ): Promise<
    readonly { readonly of: unknown; readonly count: number; readonly sum: number | undefined }[]
  > => {
    await reader.forceFlush();
    const metrics =
      exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    const points = metrics.find(({ descriptor }) => descriptor.name === metric)?.dataPoints ?? [];
    return points.map(({ attributes, value }) => ({
      of: attributes,
      count: (value as Histogram).count,
      sum: (value as Histogram).sum,
    }));
  };
  return { meterProvider, pointsOf, end: () => meterProvider.shutdown() };
}

const chat = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'scripted',
  'gen_ai.request.model': 'scripted',
};

test('tokens, times and rounds are measured, also without spans', async () => {
  const { meterProvider, pointsOf, end } = measured();
  const app = runtime({ app: 'test', middleware: [openTelemetry({ meterProvider })] });
  const good = tool({
    name: 'good',
    description: 'Works',
    schema: { type: 'object' },
    execute: () => 'ok',
  });
  const model = scriptedModel(
    [
      { toolCalls: [{ name: 'good', args: {} }], usage: { inputTokens: 100, outputTokens: 20 } },
      { text: 'done', usage: null },
    ],
    { contextWindow: 4_000 },
  );
  await app.run(agent({ name: 'worker', model, tools: [good] }), 'Go');
  // Tokens that were not reported are no usage.
  expect(await pointsOf('gen_ai.client.token.usage')).toEqual([
    { of: { ...chat, 'gen_ai.token.type': 'input' }, count: 1, sum: 100 },
    { of: { ...chat, 'gen_ai.token.type': 'output' }, count: 1, sum: 20 },
  ]);
  expect(await pointsOf('gen_ai.client.operation.duration')).toMatchObject([
    { of: chat, count: 2 },
  ]);
  expect(await pointsOf('gen_ai.client.operation.time_to_first_chunk')).toMatchObject([
    { of: chat, count: 2 },
  ]);
  const ofTool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'good' };
  expect(await pointsOf('gen_ai.execute_tool.duration')).toMatchObject([{ of: ofTool, count: 1 }]);
  const ofAgent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'worker' };
  expect(await pointsOf('gen_ai.invoke_agent.duration')).toMatchObject([{ of: ofAgent, count: 1 }]);
  expect(await pointsOf('adjutant.invoke_agent.rounds')).toEqual([
    { of: ofAgent, count: 1, sum: 2 },
  ]);
  expect(await pointsOf('adjutant.invoke_agent.round.duration')).toMatchObject([
    { of: ofAgent, count: 2 },
  ]);
  // The usage of the second call was not reported.
  expect(await pointsOf('adjutant.context_window.utilization')).toEqual([
    { of: chat, count: 1, sum: 0.025 },
  ]);
  await end();
});

test('failures are told apart by their type', async () => {
  const { meterProvider, pointsOf, end } = measured();
  const app = runtime({ app: 'test', middleware: [openTelemetry({ meterProvider })] });
  const model = scriptedModel([
    { error: Object.assign(new Error('No such key'), { statusCode: 401 }) },
  ]);
  const { error } = await app.run(agent({ name: 'locked', model, supervision: false }), 'Go');
  expect(await pointsOf('gen_ai.client.operation.duration')).toMatchObject([
    { of: { ...chat, 'error.type': error?.code }, count: 1 },
  ]);
  expect(await pointsOf('gen_ai.invoke_agent.duration')).toMatchObject([
    { of: { 'error.type': error?.code }, count: 1 },
  ]);
  await end();
});

test('without the package it says what to install, and only when somebody asks for it', () => {
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier !== '@opentelemetry/api') return next(specifier, context);
        throw Object.assign(new Error("Cannot find module '@opentelemetry/api'"), { code: 'MODULE_NOT_FOUND' });
      },
    });
    const { openTelemetry } = await import('adjutant/opentelemetry');
    try {
      openTelemetry();
    } catch (error) {
      process.stdout.write(error.code + ': ' + error.message);
    }`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  expect(output).toBe(
    'missing_package: openTelemetry() needs the package "@opentelemetry/api". Install it: ' +
      'npm install @opentelemetry/api',
  );
});
