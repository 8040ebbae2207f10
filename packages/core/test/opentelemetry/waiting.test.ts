import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import {
  agent,
  agentTool,
  memoryStore,
  pending,
  type Runnable,
  runtime,
  type Store,
  tool,
} from 'adjutant';
import { openTelemetry } from 'adjutant/opentelemetry';
import { eventually, keptOpen, scriptedModel } from 'adjutant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedSpans, spanOf } from './span-tree.ts';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

/** One process: an app on a store, with spans of its own. */
function processOn(store: Store, runnable: Runnable) {
  const recorded = recordedSpans();
  const middleware = [openTelemetry({ tracerProvider: recorded.tracerProvider })];
  const app = runtime({
    app: 'test',
    store: keptOpen(store),
    recover: 'manual',
    runnables: [runnable],
    middleware,
  });
  return { ...recorded, app, tracer: recorded.tracerProvider.getTracer('test') };
}

function payer(): Runnable {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    approval: true,
    execute: () => 'paid',
  });
  return agent({
    name: 'payer',
    model: scriptedModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'done' }]),
    tools: [pay],
  });
}

function linksOf({ links }: ReadableSpan): readonly string[] {
  return links.map((link) => link.context.spanId);
}

describe('a run that waits', () => {
  test(
    'has no open span, and goes on in another process with a span that is linked to the ' +
      'first one',
    async () => {
      const store = memoryStore();
      const runnable = payer();
      const first = processOn(store, runnable);
      const waiting = await first.app.run(runnable, { input: 'Pay', session: 's' });
      expect(waiting.status).toBe('yielded');
      expect(await first.tree()).toEqual([
        'run payer (yielded)',
        '  invoke_agent payer (yielded)',
        '    round',
        '      chat scripted',
      ]);
      const begun = await first.spans();
      const agentSpan = spanOf(begun, 'invoke_agent payer');
      expect(agentSpan.attributes['adjutant.yield.reason']).toBe('tool_input');
      expect(agentSpan.events.map(({ name }) => name)).toContain('adjutant.wait');
      await first.app.close();

      const second = processOn(store, runnable);
      await second.app.requests.approve(waiting.pendingApprovals[0]?.requestId ?? '');
      const result = await second.tracer.startActiveSpan('answer', async (span) => {
        const given = await second.app.resume('s');
        span.end();
        return given;
      });
      expect(result.output).toBe('done');
      expect(await second.tree()).toEqual([
        'answer',
        '  run payer',
        '    invoke_agent payer',
        '      execute_tool pay',
        '      round',
        '        chat scripted',
      ]);
      const continued = spanOf(await second.spans(), 'run payer');
      expect(continued.attributes['adjutant.run.continued']).toBe(true);
      expect(linksOf(continued)).toEqual([spanOf(begun, 'run payer').spanContext().spanId]);
      expect(continued.links[0]?.context.traceId).toBe(
        spanOf(begun, 'run payer').spanContext().traceId,
      );
      // It was given before anybody worked on the agent again.
      expect(continued.events.map(({ name }) => name)).toContain('adjutant.answer');
    },
  );

  test('what waits below a tool is let go with it', async () => {
    const inner = payer();
    const ask = agentTool(inner as ReturnType<typeof agent>, {
      name: 'ask',
      description: 'Asks the payer',
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'ask', args: { message: 'Pay' } }] },
      { text: 'all done' },
    ]);
    const outer = agent({ name: 'outer', model, tools: [ask] });
    const { app, tree } = processOn(memoryStore(), outer);
    const waiting = await app.run(outer, 'Go');
    expect(waiting.status).toBe('yielded');
    expect(await tree()).toEqual([
      'run outer (yielded)',
      '  invoke_agent outer (yielded)',
      '    round',
      '      chat scripted',
      '      execute_tool ask (yielded)',
      '        invoke_agent payer (yielded)',
      '          round',
      '            chat scripted',
    ]);
  });

  test('an operation that goes on elsewhere does not keep the span of its tool open', async () => {
    const film = tool({
      name: 'film',
      description: 'Films',
      schema: { type: 'object' },
      execute: () => pending({ operationId: 'film-1' }),
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'film', args: {} }] }, { text: 'done' }]);
    const director = agent({ name: 'director', model, tools: [film] });
    const { app, tree, spans } = processOn(memoryStore(), director);
    expect((await app.run(director, { input: 'Film', session: 's' })).status).toBe('yielded');
    expect((await tree()).slice(-2)).toEqual([
      '      chat scripted',
      '      execute_tool film (yielded)',
    ]);
    await app.requests.settleOperation('film-1', { result: 'filmed' });
    expect((await app.resume('s')).output).toBe('done');
    const [before, after] = (await spans()).filter(({ name }) => name === 'run director');
    expect(after && linksOf(after)).toEqual([before?.spanContext().spanId]);
    const results = (await spans()).flatMap(({ name, events }) =>
      events.filter((event) => event.name === 'adjutant.tool_result').map(() => name),
    );
    expect(results).toEqual(['invoke_agent director']);
  });

  test(
    'one that the runtime takes up by itself belongs to nobody who happens ' + 'to be there',
    async () => {
      const store = memoryStore();
      const runnable = payer();
      const { app, tracer, spans } = processOn(store, runnable);
      const waiting = await app.run(runnable, { input: 'Pay', session: 's' });
      await tracer.startActiveSpan('somebody else', async (span) => {
        await app.requests.approve(waiting.pendingApprovals[0]?.requestId ?? '');
        await Promise.all(await app.recovery.resumeStopped());
        span.end();
      });
      const [before, after] = (await spans()).filter(({ name }) => name === 'run payer');
      expect(after?.parentSpanContext).toBeUndefined();
      expect(after?.attributes['adjutant.run.asked']).toBe(false);
      expect(after && linksOf(after)).toEqual([before?.spanContext().spanId]);
    },
  );
});

test('a run that is stopped ends its spans, and is linked to when it goes on', async () => {
  const store = memoryStore();
  const model = scriptedModel([{ text: 'too late', delayMs: 60_000 }, { text: 'done' }]);
  const runnable = agent({ name: 'waiter', model });
  const first = processOn(store, runnable);
  const run = first.app.run(runnable, { input: 'Go', session: 's' });
  await eventually(() => model.calls.length === 1);
  run.stop();
  await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
  await first.app.close();
  expect(await first.tree()).toEqual([
    'run waiter (stopped)',
    '  invoke_agent waiter (stopped)',
    '    round',
    '      chat scripted (stopped)',
  ]);
  const second = processOn(store, runnable);
  expect((await second.app.resume('s')).output).toBe('done');
  const stopped = spanOf(await first.spans(), 'run waiter').spanContext();
  expect(linksOf(spanOf(await second.spans(), 'run waiter'))).toEqual([stopped.spanId]);
});
