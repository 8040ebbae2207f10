import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { agent, runtime, step, ToolFailure, tool } from 'adjutant';
import { openTelemetry } from 'adjutant/opentelemetry';
import { scriptedModel } from 'adjutant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spanOf } from './span-tree.ts';
import { calls, says, schema, traced } from './traced-run.ts';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

describe('failures', () => {
  test('a model call that failed and was made again', async () => {
    const { app, tree, spans } = traced();
    const model = scriptedModel([
      { error: Object.assign(new Error('hunter2 is too busy'), { statusCode: 503 }) },
      says('done'),
    ]);
    const patient = agent({ name: 'patient', model: model, supervision: false });
    expect((await app.run(patient, 'Go')).status).toBe('completed');
    const [line] = (await tree()).filter((one) => one.includes('!'));
    expect(line?.trim()).toMatch(/^chat scripted !model_\w+$/);
    const chats = (await spans()).filter(({ name }) => name === 'chat scripted');
    expect(chats.map(({ attributes }) => attributes['adjutant.attempt'])).toEqual([1, 2]);
    expect(chats[0]?.parentSpanContext?.spanId).toBe(chats[1]?.parentSpanContext?.spanId);
    expect(
      JSON.stringify(chats.map(({ status, attributes, events }) => [status, attributes, events])),
    ).not.toContain('hunter2');
  });

  test(
    'a tool that failed and was run again, one that is refused and one that ' + 'there is not',
    async () => {
      const { app, tree, spans } = traced();
      let attempts = 0;
      const flaky = tool({
        name: 'flaky',
        description: 'Fails once',
        schema,
        retry: { attempts: 2, initialDelayMs: 1 },
        execute: () => {
          if (++attempts === 1)
            throw new ToolFailure('hunter2 is not there', {
              errorType: 'not_there',
              status: 'error_transient',
            });
        },
      });
      const guarded = tool({
        name: 'guarded',
        description: 'Needs leave',
        schema,
        requiresPermission: ['fs:write'],
        execute: () => 'never',
      });
      const model = scriptedModel([calls('flaky', 'guarded', 'missing'), says('done')]);
      await app.run(agent({ name: 'worker', model, tools: [flaky, guarded] }), 'Go');
      expect(
        (await tree()).filter((line) => line.includes('execute_tool')).map((line) => line.trim()),
      ).toEqual(['execute_tool flaky !not_there', 'execute_tool flaky']);
      const { events } = spanOf(await spans(), 'invoke_agent worker');
      const results = events
        .filter(({ name }) => name === 'adjutant.tool_result')
        .map(({ attributes }) => attributes?.['gen_ai.tool.name']);
      expect(results.toSorted()).toEqual(['guarded', 'missing']);
      const decisions = events.filter(({ name }) => name === 'adjutant.decision');
      expect(decisions.length).toBeGreaterThan(0);
      expect(
        decisions.every(
          ({ attributes }) => attributes?.['adjutant.decision.reasoning'] === undefined,
        ),
      ).toBe(true);
    },
  );

  test('an agent that fails, and a step that throws', async () => {
    const { app, tree } = traced();
    const model = scriptedModel([
      { error: Object.assign(new Error('No such key'), { statusCode: 401 }) },
    ]);
    const locked = agent({ name: 'locked', model, supervision: false });
    expect((await app.run(locked, 'Go')).status).toBe('error');
    const broken = step({
      name: 'broken',
      execute: () => {
        throw new TypeError('hunter2');
      },
    });
    await app.run(broken, 'Go');
    expect((await tree()).map((line) => line.replace(/!model_\w+/, '!model'))).toEqual([
      'run locked !model',
      '  invoke_agent locked !model',
      '    round',
      '      chat scripted !model',
      'run broken !step_error',
      '  invoke_workflow broken !step_error',
    ]);
  });

  test('a run that is cancelled has not failed', async () => {
    const { app, tree } = traced();
    const begun = Promise.withResolvers<void>();
    const slow = tool({
      name: 'slow',
      description: 'Never ends',
      schema,
      execute: (ctx) => {
        begun.resolve();
        return new Promise<string>((resolve) =>
          ctx.signal.addEventListener('abort', () => resolve('late')),
        );
      },
    });
    const run = app.run(
      agent({ name: 'idle', model: scriptedModel([calls('slow')]), tools: [slow] }),
      'Go',
    );
    await begun.promise;
    run.cancel('enough');
    expect((await run).status).toBe('cancelled');
    await run.settled();
    const lines = await tree();
    expect(lines.slice(0, 2)).toEqual(['run idle (cancelled)', '  invoke_agent idle (cancelled)']);
    expect(lines.filter((line) => line.includes('!'))).toEqual([]);
    expect(lines.some((line) => line.includes('execute_tool slow'))).toBe(true);
  });

  test('a tracer that fails harms no run', async () => {
    const tracerProvider = {
      getTracer: () => {
        throw new Error('The tracer is broken.');
      },
    };
    const app = runtime({ app: 'test', middleware: [openTelemetry({ tracerProvider })] });
    expect(
      (await app.run(agent({ name: 'calm', model: scriptedModel([says('done')]) }), 'Go')).output,
    ).toBe('done');
  });
});
