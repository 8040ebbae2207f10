import {
  type Around,
  agent,
  agentTool,
  type Middleware,
  memoryStore,
  type Operation,
  runtime,
  type StreamEvent,
  step,
  tool,
} from 'adjutant';
import { openTelemetry } from 'adjutant/opentelemetry';
import { replay } from 'adjutant/replay';
import { model, runTest, scriptedModel, user } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';

/** Middleware that writes down what begins, what is over and what happens. */
function watching(told: string[], name: string): Middleware {
  return {
    name,
    around: (operation, work) => {
      const what = operation.type === 'model' ? operation.agent : operation.name;
      told.push(`${name} > ${operation.type} ${what}`);
      return work();
    },
    onStream: (event) => void told.push(`${name} ~ ${event.type} ${event.invocationId}`),
  };
}

const begun = (told: readonly string[]) => told.filter((line) => line.includes(' > '));
const look = tool({
  name: 'look',
  description: 'Looks',
  schema: { type: 'object' },
  readOnly: true,
  execute: () => 'seen',
});
const helperWith = (middleware: readonly Middleware[]) =>
  agent({
    name: 'helper',
    model: scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Seen.' }]),
    tools: [look],
    middleware,
  });
const boss = (helper: ReturnType<typeof helperWith>, middleware: readonly Middleware[] = []) =>
  agent({
    name: 'boss',
    model: scriptedModel([
      { toolCalls: [{ name: 'helper', args: { message: 'Look' } }] },
      { text: 'Done.' },
    ]),
    tools: [agentTool(helper)],
    middleware,
  });

describe('around and onStream of an agent', () => {
  test('lie around its work and all that it calls, inside those of the runtime and of callers', async () => {
    const told: string[] = [];
    const whole = boss(helperWith([watching(told, 'inner')]), [watching(told, 'boss')]);
    const app = runtime({ app: 'test', middleware: [watching(told, 'app')] });
    await app.run(whole, { input: 'Go', runId: 'r' });
    const around = (names: readonly string[], what: string) =>
      names.map((name) => `${name} > ${what}`);
    expect(begun(told)).toEqual([
      'app > run boss',
      ...around(['app', 'boss'], 'invocation boss'),
      ...around(['app', 'boss'], 'model boss'),
      ...around(['app', 'boss'], 'tool helper'),
      ...around(['app', 'boss', 'inner'], 'invocation helper'),
      ...around(['app', 'boss', 'inner'], 'model helper'),
      ...around(['app', 'boss', 'inner'], 'tool look'),
      ...around(['app', 'boss', 'inner'], 'model helper'),
      ...around(['app', 'boss'], 'model boss'),
    ]);
  });

  test('hear the events of its invocations and of those below, the outermost agent first', async () => {
    const told: string[] = [];
    const whole = boss(helperWith([watching(told, 'inner')]), [watching(told, 'boss')]);
    const app = runtime({ app: 'test', middleware: [watching(told, 'app')] });
    const { session } = await app.run(whole, { input: 'Go', runId: 'r' });
    const heard = (name: string) =>
      told.filter((line) => line.startsWith(`${name} ~ `) && !line.includes('_delta'));
    const recorded = session.events.flatMap(({ type, invocationId }) =>
      invocationId === undefined ? [] : [`${type} ${invocationId}`],
    );
    expect(heard('boss')).toEqual(recorded.map((line) => `boss ~ ${line}`));
    const below = recorded.filter((line) => line.includes(' r/'));
    expect(below.length).toBeGreaterThan(5);
    expect(heard('inner')).toEqual(below.map((line) => `inner ~ ${line}`));
    const last = told.filter((line) =>
      line.endsWith(`~ invocation_end ${below.at(-1)?.split(' ')[1]}`),
    );
    expect(last.map((line) => line.split(' ')[0])).toEqual(['app', 'boss', 'inner']);
  });

  test('hear the parts of answers, also when nobody else listens, and not those of others', async () => {
    const parts: string[] = [];
    const onStream = (event: StreamEvent): void => {
      if (event.type === 'assistant_delta') parts.push(event.delta);
    };
    const helper = helperWith([{ name: 'ear', onStream }]);
    const { output } = await runtime({ app: 'test' }).run(boss(helper), 'Go');
    expect([output, parts.join('')]).toEqual(['Done.', 'Seen.']);
  });

  test('are those of the agent that works: not of another one that takes over from it', async () => {
    const told: string[] = [];
    const second = agent({ name: 'second', model: scriptedModel([{ text: 'Second.' }]) });
    const first = agent({
      name: 'first',
      model: scriptedModel([{ text: 'never' }]),
      handoffs: [second],
      hooks: { beforeAgent: () => second },
      middleware: [watching(told, 'first')],
    });
    const { output } = await runtime({ app: 'test' }).run(first, 'Go');
    expect(output).toBe('Second.');
    expect(begun(told)).toEqual(['first > invocation first']);
  });

  test('are known again in the process that goes on, with the callers of what goes on', async () => {
    const told: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: { type: 'object' },
      approval: true,
      execute: () => 'paid',
    });
    const payer = agent({
      name: 'payer',
      model: scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]),
      tools: [pay],
    });
    const root = step({
      name: 'root',
      execute: async (ctx) =>
        ctx.complete((await ctx.call(outer, { message: 'Pay' })).output ?? ''),
    });
    const outer = agent({
      name: 'outer',
      model: scriptedModel([
        { toolCalls: [{ name: 'payer', args: { message: 'Pay' } }] },
        { text: 'Done.' },
      ]),
      tools: [agentTool(payer)],
      middleware: [watching(told, 'outer')],
    });
    const store = memoryStore();
    const open = () =>
      runtime({ app: 'test', store, recover: 'manual', runnables: [root, outer, payer] });
    const first = open();
    const { pendingCalls } = await first.run(root, { input: 'Go', session: 's' });
    await first.requests.approve(pendingCalls[0]?.requestId ?? '', { by: 'user:ann' });
    told.length = 0;
    expect((await open().resume('s')).output).toBe('Done.');
    expect(begun(told)).toContain('outer > tool pay');
    expect(begun(told)).toContain('outer > invocation payer');
    expect(told.some((line) => line.includes('~ tool_result'))).toBe(true);
  });

  test('what onStream throws is ignored, and what around throws is a failure of that work', async () => {
    const deaf: Middleware = {
      name: 'deaf',
      onStream: () => {
        throw new Error('Nobody cares.');
      },
    };
    const failing: Middleware = {
      name: 'failing',
      around: (operation, work) => {
        if (operation.type === 'model') throw new Error('No models today.');
        return work();
      },
    };
    const { status } = await runtime({ app: 'test' }).run(helperWith([deaf]), 'Go');
    expect(status).toBe('completed');
    const failed = await runtime({ app: 'test' }).run(helperWith([failing]), 'Go');
    expect([failed.status, failed.error?.message]).toEqual(['error', 'No models today.']);
  });

  test('work in tests of agents', async () => {
    const told: string[] = [];
    const helper = helperWith([watching(told, 'helper')]);
    await runTest(helper, [
      user('Go'),
      model({ toolCalls: [{ name: 'look' }] }),
      model({ text: 'Seen.' }),
    ]);
    expect(begun(told)).toEqual([
      'helper > invocation helper',
      'helper > model helper',
      'helper > tool look',
      'helper > model helper',
    ]);
  });

  test('change nothing in the ledger; replays are heard and not surrounded, as of a runtime', async () => {
    const told: string[] = [];
    const plain = await runtime({ app: 'test' }).run(helperWith([]), 'Go');
    const helper = helperWith([watching(told, 'helper')]);
    const app = runtime({ app: 'test', runnables: [helper] });
    const { session } = await app.run(helper, 'Go');
    expect(session.events.map(({ type }) => type)).toEqual(
      plain.session.events.map(({ type }) => type),
    );
    told.length = 0;
    expect((await replay(session, app)).divergence).toBeUndefined();
    expect(begun(told)).toEqual([]);
    expect(told.filter((line) => line.includes('~ model_end'))).toHaveLength(2);
  });

  test('tracing of whole runs is refused at an agent', () => {
    expect(() => helperWith([openTelemetry()])).toThrow(
      /without "openTelemetry", which traces whole runs: give it to runtime\(\{ middleware \}\)/,
    );
  });
});

describe('a function around work that does not do it, or keeps its result, is refused', () => {
  const wrongly: Readonly<Record<string, (work: () => unknown) => unknown>> = {
    'does nothing': () => undefined,
    'returns something else': () => ({ output: 'Mine.' }),
    'keeps the result': async (work) => {
      await work();
    },
    'does not wait': (work) => {
      work();
    },
    'works twice': async (work) => {
      await work();
      return work();
    },
  };
  const around = (type: Operation['type'], give: (work: () => unknown) => unknown): Middleware => ({
    name: 'careless',
    around: ((operation: Operation, work: () => unknown) =>
      operation.type === type ? give(work) : work()) as Around,
  });
  const refused = (what: string) => ({
    code: 'invalid_option',
    message:
      'around() cannot be set up: it must call the work that it is given once, ' +
      `and return its result (${what}).`,
  });

  for (const [how, give] of Object.entries(wrongly)) {
    test(`of a run: ${how}`, async () => {
      const app = runtime({ app: 'watched', middleware: [around('run', give)] });
      await expect(app.run(helperWith([]), { input: 'Go', runId: 'r' })).rejects.toMatchObject(
        refused('run of "helper", "r"'),
      );
    });

    for (const place of ['runtime', 'agent'] as const) {
      const inside = (type: Operation['type']) => {
        const middleware = [around(type, give)];
        const app = runtime({ app: 'watched', ...(place === 'runtime' && { middleware }) });
        const whole = helperWith(place === 'agent' ? middleware : []);
        return app.run(whole, { input: 'Go', runId: 'r' });
      };

      test(`of an invocation, by the ${place}: ${how}`, async () => {
        await expect(inside('invocation')).rejects.toMatchObject(
          refused('invocation of "helper", "r"'),
        );
      });

      test(`of a model call, by the ${place}: ${how}`, async () => {
        const { status, error } = await inside('model');
        expect([status, error]).toMatchObject(['error', refused('model of "helper", "r"')]);
      });

      // The work of a tool gives nothing: what it returned is recorded already.
      const isRefused = how !== 'keeps the result' && how !== 'does not wait';
      test(`of a tool, by the ${place}: ${how}`, async () => {
        const { status, error, session } = await inside('tool');
        const results = session.events.filter(({ type }) => type === 'tool_result');
        expect(status).toBe(isRefused ? 'error' : 'completed');
        expect(results).toHaveLength(how === 'works twice' || !isRefused ? 1 : 0);
        if (isRefused) expect(error).toMatchObject(refused('tool of "helper", "r"'));
      });
    }
  }

  test('a failure of the work that the function hides goes before the refusal', async () => {
    const silent = around('run', async (work) => {
      try {
        return await work();
      } catch {
        return undefined;
      }
    });
    const app = runtime({ app: 'watched', middleware: [silent] });
    const asked = app.run(helperWith([around('invocation', () => undefined)]), 'Go');
    await expect(asked).rejects.toThrow('(invocation of "helper"');
  });
});
