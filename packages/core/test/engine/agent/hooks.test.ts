import { describe, expect, test } from 'vitest';
import { testClock } from '../../../src/base/clocks/test-clock.ts';
import { injectSystemMessage, promptOf } from '../../../src/context/index.ts';
import {
  agent,
  type ErrorAction,
  type Event,
  type EventOf,
  type EventType,
  type Hooks,
  type Middleware,
  memoryStore,
  type RunResult,
  runtime,
  step,
  tool,
} from '../../../src/index.ts';
import { eventually } from '../../../src/testing/kit/eventually.ts';
import { type ScriptedResponses, scriptedModel } from '../../../src/testing/kit/scripted-model.ts';

const says = (text: string) => ({ text });
const calls = (name: string, args: object = {}) => ({ toolCalls: [{ name, args: args as never }] });

function eventsOf<Type extends EventType>(
  { session }: Pick<RunResult, 'session'>,
  type: Type,
): EventOf<Type>[] {
  return session.events.filter((event): event is EventOf<Type> => event.type === type);
}

function decisions(result: Pick<RunResult, 'session'>, component: string): string[] {
  return eventsOf(result, 'decision').flatMap((event) =>
    event.component === component ? [event.decision] : [],
  );
}

const echo = tool({
  name: 'echo',
  description: 'Says it again',
  schema: { type: 'object' },
  execute: (ctx) => ctx.args,
});

interface Setup {
  readonly hooks?: Hooks;
  readonly runtimeHooks?: Hooks;
  readonly middleware?: readonly Middleware[];
  readonly runtimeMiddleware?: readonly Middleware[];
}

function setUp(
  responses: ScriptedResponses,
  { hooks, runtimeHooks, middleware, runtimeMiddleware }: Setup = {},
) {
  const model = scriptedModel(responses);
  const helper = agent({
    name: 'helper',
    model,
    tools: [echo],
    ...(hooks && { hooks }),
    ...(middleware && { middleware }),
  });
  const specialist = agent({
    name: 'specialist',
    model: scriptedModel([says('the specialist answers')]),
  });
  const app = runtime({
    app: 'test',
    runnables: [helper, specialist],
    ...(runtimeHooks && { hooks: runtimeHooks }),
    ...(runtimeMiddleware && { middleware: runtimeMiddleware }),
  });
  return { app, helper, specialist, model };
}

describe('the order of the pipeline', () => {
  test(
    'middleware lies around hooks, the runtime around the agent on the way in; on the way ' +
      'out plain hooks come first',
    async () => {
      const order: string[] = [];
      const tracing = (who: string): Hooks => {
        const note = (point: string) => {
          order.push(`${point} ${who}`);
          return undefined;
        };
        return {
          beforeAgent: () => note('beforeAgent'),
          afterAgent: () => note('afterAgent'),
          beforeModel: () => note('beforeModel'),
          afterModel: () => note('afterModel'),
          beforeTool: () => note('beforeTool'),
          afterTool: () => note('afterTool'),
        };
      };
      const { app, helper } = setUp([calls('echo'), says('done')], {
        runtimeMiddleware: [{ name: 'M1', ...tracing('M1') }],
        middleware: [{ name: 'M2', ...tracing('M2') }],
        runtimeHooks: tracing('runtime'),
        hooks: tracing('agent'),
      });
      await app.run(helper, 'go');
      const inward = ['M1', 'M2', 'runtime', 'agent'];
      const outward = ['runtime', 'agent', 'M2', 'M1'];
      const at = (point: string, who: readonly string[]) => who.map((one) => `${point} ${one}`);
      const round = [...at('beforeModel', inward), ...at('afterModel', outward)];
      expect(order).toEqual([
        ...at('beforeAgent', inward),
        ...round,
        ...at('beforeTool', inward),
        ...at('afterTool', outward),
        ...round,
        ...at('afterAgent', outward),
      ]);
    },
  );

  test(
    'the first that answers ends the way in, so that those inside it are ' + 'not asked',
    async () => {
      const asked: string[] = [];
      const { app, helper, model } = setUp([], {
        runtimeMiddleware: [{ name: 'gate', beforeAgent: () => 'closed today' }],
        hooks: {
          beforeAgent: () => {
            asked.push('agent');
          },
        },
      });
      expect(await app.run(helper, 'go')).toMatchObject({
        status: 'completed',
        output: 'closed today',
      });
      expect(asked).toEqual([]);
      expect(model.calls).toEqual([]);
    },
  );

  test('what those inside have changed is what those outside see on the way out', async () => {
    const { app, helper } = setUp([says('a')], {
      hooks: { afterAgent: (_ctx, output) => `${String(output)}b` },
      middleware: [{ name: 'outer', afterAgent: (_ctx, output) => `${String(output)}c` }],
    });
    expect((await app.run(helper, 'go')).output).toBe('abc');
  });
});

describe('what hooks put in the place of something', () => {
  test('beforeAgent: a string is the answer, and the transcript has it', async () => {
    const { app, helper } = setUp([], {
      hooks: { beforeAgent: (ctx) => `no work for ${ctx.agent}` },
    });
    const result = await app.run(helper, 'go');
    expect(result).toMatchObject({ status: 'completed', output: 'no work for helper' });
    expect(eventsOf(result, 'assistant').map(({ text }) => text)).toEqual(['no work for helper']);
    expect(decisions(result, 'hooks')).toEqual(['answer']);
  });

  test('beforeAgent: a runnable takes over', async () => {
    const other = step({ name: 'other', execute: (ctx) => ctx.complete('from the step') });
    const { app, helper } = setUp([], { hooks: { beforeAgent: () => other } });
    const result = await app.run(helper, 'go');
    expect(result).toMatchObject({ status: 'completed', output: 'from the step' });
    expect(eventsOf(result, 'handoff')).toMatchObject([{ from: 'helper', to: 'other' }]);
  });

  test(
    'beforeModel: an answer in the place of the model, which is not asked; it costs nothing ' +
      'and says whose it is',
    async () => {
      const { app, helper, model } = setUp([], {
        hooks: {
          beforeModel: () => ({
            stepEvents: [{ type: 'assistant', text: 'PII detected' }],
            terminal: true,
          }),
        },
      });
      const result = await app.run(helper, 'go');
      expect(result).toMatchObject({
        status: 'completed',
        output: 'PII detected',
        usage: { inputTokens: 0, outputTokens: 0 },
      });
      expect(model.calls).toEqual([]);
      expect(eventsOf(result, 'model_end')).toMatchObject([
        { status: 'completed', substitutedBy: 'beforeModel of the agent "helper"' },
      ]);
    },
  );

  test('beforeModel: tool calls in its answer are made, and then the model is asked', async () => {
    const { app, helper, model } = setUp([says('done')], {
      hooks: {
        beforeModel: (ctx) =>
          ctx.round === 1
            ? { stepEvents: [{ type: 'tool_call', name: 'echo', args: { a: 1 } }] }
            : undefined,
      },
    });
    const result = await app.run(helper, 'go');
    expect(result.output).toBe('done');
    expect(eventsOf(result, 'tool_result')).toMatchObject([
      { name: 'echo', result: { status: 'success', content: { a: 1 } } },
    ]);
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('tool-result');
  });

  test(
    'beforeModel: an answer that is not the end is said, and the model is asked in the next ' +
      'round',
    async () => {
      let asked = 0;
      const { app, helper } = setUp([says('the answer')], {
        hooks: {
          beforeModel: () =>
            asked++ === 0
              ? { stepEvents: [{ type: 'assistant', text: 'One moment.' }], terminal: false }
              : undefined,
        },
      });
      const result = await app.run(helper, 'go');
      expect(result.output).toBe('the answer');
      expect(eventsOf(result, 'assistant').map(({ text }) => text)).toEqual([
        'One moment.',
        'the answer',
      ]);
    },
  );

  test('beforeModel: another prompt is what the model gets, and what promptOf shows', async () => {
    const { app, helper, model } = setUp([says('done')], {
      hooks: {
        beforeModel: (_ctx, prompt) =>
          prompt.append({ type: 'synthetic', role: 'user', text: 'Be brief.' }),
      },
    });
    const result = await app.run(helper, 'go');
    expect(model.calls[0]?.prompt.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'Be brief.' }],
    });
    const [start] = eventsOf(result, 'model_start');
    expect(promptOf(result.session, start?.seq ?? 0).prompt).toEqual(model.calls[0]?.prompt);
  });

  test.each(['beforeModel', 'afterModel'] as const)(
    '%s: a runnable takes over, and the calls of an answer are not made',
    async (hook) => {
      const { app, helper, specialist } = setUp([calls('echo')], {});
      const handing = agent({
        ...helperOptions(helper.model as never),
        name: 'handing',
        tools: [echo],
        hooks: { [hook]: () => specialist },
      });
      const result = await app.run(handing, 'go');
      expect(result).toMatchObject({ status: 'completed', output: 'the specialist answers' });
      expect(eventsOf(result, 'handoff')).toMatchObject([{ from: 'handing', to: 'specialist' }]);
      expect(eventsOf(result, 'tool_call')).toEqual([]);
      expect(decisions(result, 'hooks')).toEqual(['transfer']);
    },
  );

  test(
    'afterModel: another answer is recorded in the place of the first; parts that it leaves ' +
      'keep what the provider wants back',
    async () => {
      const { app, helper } = setUp([{ text: 'secret plan', thoughts: 'hm' }], {
        hooks: {
          afterModel: (_ctx, result) => ({
            ...result,
            stepEvents: result.stepEvents.map((event) =>
              event.type === 'assistant' ? { ...event, text: event.text.toUpperCase() } : event,
            ),
          }),
        },
      });
      const result = await app.run(helper, 'go');
      expect(result.output).toBe('SECRET PLAN');
      expect(JSON.stringify(result.session.events)).not.toContain('secret plan');
      expect(eventsOf(result, 'thought').map(({ text }) => text)).toEqual(['hm']);
      expect(decisions(result, 'hooks')).toEqual(['change_answer']);
    },
  );

  test(
    'beforeTool: a result in the place of the tool; { error } is a refusal that the model ' +
      'reads',
    async () => {
      let ran = 0;
      const danger = tool({
        name: 'danger',
        description: '',
        schema: { type: 'object' },
        execute: () => ++ran,
      });
      const model = scriptedModel([calls('danger'), says('ok')]);
      const careful = agent({
        name: 'careful',
        model,
        tools: [danger],
        hooks: {
          beforeTool: (_ctx, call) => (call.name === 'danger' ? { error: 'Blocked' } : undefined),
        },
      });
      const result = await runtime({ app: 'test' }).run(careful, 'go');
      expect(ran).toBe(0);
      expect(eventsOf(result, 'tool_result')).toMatchObject([
        {
          attempt: 0,
          result: { status: 'error_blocked', content: 'Blocked', errorType: 'hook_refused' },
        },
      ]);
      expect(decisions(result, 'hooks')).toEqual(['skip_tool']);
    },
  );

  test('afterTool: another result', async () => {
    const { app, helper } = setUp([calls('echo', { text: 'me@example.org' }), says('ok')], {
      hooks: { afterTool: () => ({ text: '[removed]' }) },
    });
    const result = await app.run(helper, 'go');
    expect(eventsOf(result, 'tool_result')).toMatchObject([
      { result: { status: 'success', content: { text: '[removed]' } } },
    ]);
  });

  test('onToolError: a result in the place of a failure', async () => {
    const broken = tool({
      name: 'broken',
      description: '',
      schema: { type: 'object' },
      execute: () => {
        throw new Error('no');
      },
    });
    const model = scriptedModel([calls('broken'), says('ok')]);
    const lenient = agent({
      name: 'lenient',
      model,
      tools: [broken],
      hooks: { onToolError: (_ctx, call, failed) => `${call.name}: ${failed.errorType}` },
    });
    const result = await runtime({ app: 'test' }).run(lenient, 'go');
    expect(eventsOf(result, 'tool_result')).toMatchObject([
      { settled: true, result: { status: 'success', content: 'broken: tool_error' } },
    ]);
  });

  test(
    'onModelError: an answer when nothing else is left; the error stays in ' + 'the ledger',
    async () => {
      const { app, helper } = setUp([{ error: new Error('invalid_api_key') }], {
        hooks: {
          onModelError: (_ctx, error) => `busy (${(error as Error & { code: string }).code})`,
        },
      });
      const result = await app.run(helper, 'go');
      expect(result).toMatchObject({ status: 'completed', output: 'busy (model_auth)' });
      expect(eventsOf(result, 'model_end')).toMatchObject([
        {
          status: 'completed',
          substitutedBy: 'onModelError of the agent "helper"',
          error: { code: 'model_auth' },
        },
      ]);
    },
  );
});

function helperOptions(model: never): { name: string; model: never } {
  return { name: 'x', model };
}

describe('state that hooks write', () => {
  test('lands with what the hook led to, and is there in the next run', async () => {
    const { app, helper } = setUp([says('one'), says('two')], {
      runtimeMiddleware: [
        {
          name: 'cost-tracker',
          afterModel: (ctx, result) => {
            const state = ctx.state as Record<string, number>;
            state['tokens'] =
              (state['tokens'] ?? 0) + result.usage.inputTokens + result.usage.outputTokens;
          },
        },
      ],
    });
    const first = await app.run(helper, 'go');
    await app.run(helper, { input: 'again', session: first.session });
    expect((first.session.state as Record<string, unknown>)['tokens']).toBe(30);
    const kinds = first.session.events.map(({ type }) => type);
    const at = kinds.indexOf('state_change');
    expect(kinds.slice(at, at + 3)).toEqual(['state_change', 'assistant', 'model_end']);
  });
});

describe('hooks that fail', () => {
  test.each<[string, Hooks]>([
    ['beforeAgent', { beforeAgent: () => 7 as never }],
    ['beforeModel', { beforeModel: () => ({ events: [] }) as never }],
    ['afterModel', { afterModel: () => 'text' as never }],
    ['afterAgent', { afterAgent: () => (() => 1) as never }],
  ])(
    '%s that returns what nobody can use ends the agent with an error that says what is expected',
    async (hook, hooks) => {
      const { app, helper } = setUp([says('x')], { hooks });
      expect(await app.run(helper, 'go')).toMatchObject({
        status: 'error',
        error: { code: 'hook_failed', data: { hook, owner: 'the agent "helper"' } },
      });
    },
  );

  test('one that throws ends the agent, and is named', async () => {
    const { app, helper } = setUp([says('x')], {
      runtimeMiddleware: [
        {
          name: 'broken',
          afterModel: () => {
            throw new Error('no network');
          },
        },
      ],
    });
    const { error } = await app.run(helper, 'go');
    expect(error).toMatchObject({
      code: 'hook_failed',
      message: expect.stringContaining('the middleware "broken" failed: no network'),
    });
  });

  test('one that hangs does not keep a run from being cancelled', async () => {
    const clock = testClock();
    const model = scriptedModel([says('x')]);
    let began: () => void = () => undefined;
    const isHanging = new Promise<void>((resolve) => {
      began = resolve;
    });
    const hanging = agent({
      name: 'hanging',
      model,
      hooks: {
        afterModel: () => {
          began();
          return new Promise<never>(() => undefined);
        },
      },
    });
    const run = runtime({ app: 'test', ports: { clock } }).run(hanging, 'go');
    await isHanging;
    run.cancel();
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
    expect((await run).status).toBe('cancelled');
  });
});

describe('error handlers of model calls', () => {
  const failing = { error: Object.assign(new Error('boom'), { statusCode: 500 }) };
  const handler = (action: ErrorAction) => ({ name: 'test', handle: () => action });

  async function handled(
    action: ErrorAction,
    responses: ScriptedResponses = [failing, says('fine')],
  ) {
    const model = scriptedModel(responses);
    const helper = agent({ name: 'helper', model, errorHandlers: [handler(action)] });
    return { result: await runtime({ app: 'test' }).run(helper, 'go'), model };
  }

  test('retry: another attempt at once, beyond what the model itself would do', async () => {
    const { result, model } = await handled({ action: 'retry' }, [
      failing,
      failing,
      failing,
      failing,
      says('fine'),
    ]);
    expect(result.output).toBe('fine');
    expect(model.calls).toHaveLength(5);
    expect(decisions(result, 'error_handler')).toEqual(['retry', 'retry', 'retry', 'retry']);
  });

  test('fallback: its result is the answer', async () => {
    const { result } = await handled({ action: 'fallback', result: { error: 'Quota exceeded' } });
    expect(result).toMatchObject({ status: 'completed', output: '{"error":"Quota exceeded"}' });
  });

  test('throw: the agent ends with the error', async () => {
    const { result, model } = await handled({ action: 'throw' });
    expect(result).toMatchObject({ status: 'error', error: { code: 'model_server' } });
    expect(model.calls).toHaveLength(1);
  });

  test('abort: the run is cancelled', async () => {
    const { result } = await handled({ action: 'abort' });
    expect(result.status).toBe('cancelled');
  });

  test('those of the runtime are asked first; the first that does not pass decides', async () => {
    const asked: string[] = [];
    const passing = (name: string, action: ErrorAction) => ({
      name,
      handle: () => {
        asked.push(name);
        return action;
      },
    });
    const model = scriptedModel([failing]);
    const helper = agent({
      name: 'helper',
      model,
      errorHandlers: [passing('agent', { action: 'throw' }), passing('never', { action: 'pass' })],
    });
    const app = runtime({
      app: 'test',
      errorHandlers: [
        passing('runtime', { action: 'pass' }),
        { ...passing('picky', { action: 'throw' }), canHandle: () => false },
      ],
    });
    await app.run(helper, 'go');
    expect(asked).toEqual(['runtime', 'agent']);
  });
});

describe('models that cannot answer', () => {
  const refused = { error: Object.assign(new Error('invalid_api_key'), { statusCode: 401 }) };

  test(
    'the next model of the list is asked, with its own window and settings, and stays for ' +
      'the rounds that follow',
    async () => {
      const first = scriptedModel([refused], { modelId: 'first' });
      const second = scriptedModel([calls('echo'), says('from the second')], { modelId: 'second' });
      const helper = agent({
        name: 'helper',
        model: [first, second],
        tools: [echo],
        context: [injectSystemMessage('Help.')],
      });
      const result = await runtime({ app: 'test' }).run(helper, 'go');
      expect(result.output).toBe('from the second');
      expect(first.calls).toHaveLength(1);
      expect(eventsOf(result, 'model_start').map(({ model }) => model)).toEqual([
        'scripted:first',
        'scripted:second',
        'scripted:second',
      ]);
      const [decision] = eventsOf(result, 'decision');
      expect(decision).toMatchObject({
        component: 'models',
        decision: 'fallback',
        data: { from: 'scripted:first', to: 'scripted:second', code: 'model_auth' },
      });
    },
  );

  test('when none is left, the agent fails with the last error', async () => {
    const helper = agent({
      name: 'helper',
      model: [scriptedModel([refused]), scriptedModel([refused])],
    });
    expect(await runtime({ app: 'test' }).run(helper, 'go')).toMatchObject({
      status: 'error',
      error: { code: 'model_auth' },
    });
  });

  test('a restart in between goes on with the model that was in use', async () => {
    const store = memoryStore();
    let isOpen: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => {
      isOpen = resolve;
    });
    const wait = tool({
      name: 'wait',
      description: '',
      schema: { type: 'object' },
      readOnly: true,
      execute: (ctx) => {
        isOpen();
        return new Promise((_resolve, reject) =>
          ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))),
        );
      },
    });
    const first = scriptedModel([refused], { modelId: 'first' });
    const second = scriptedModel([calls('wait')], { modelId: 'second' });
    const make = (
      models: readonly ReturnType<typeof scriptedModel>[],
      tools: readonly (typeof wait)[],
    ) => agent({ name: 'helper', model: models, tools });
    const run = runtime({ app: 'test', store, recover: 'manual' }).run(
      make([first, second], [wait]),
      { input: 'go', session: 's' },
    );
    await reached;
    run.stop();
    await run.then(undefined, () => undefined);
    const later = scriptedModel([says('done')], { modelId: 'second' });
    const never = scriptedModel([], { modelId: 'first' });
    const quick = tool({
      name: 'wait',
      description: '',
      schema: { type: 'object' },
      readOnly: true,
      execute: () => 'waited',
    });
    const helper = make([never, later], [quick]);
    const result = await runtime({
      app: 'test',
      store,
      runnables: [helper],
      recover: 'manual',
    }).resume('s');
    expect(result.output).toBe('done');
    expect(never.calls).toEqual([]);
  });

  test('an empty answer is asked for again, and the model is told', async () => {
    const model = scriptedModel([{}, says('now')]);
    const clock = testClock();
    const run = runtime({ app: 'test', ports: { clock } }).run(
      agent({ name: 'helper', model }),
      'go',
    );
    expect((await eventually(run, { clock, stepMs: 1_000 })).output).toBe('now');
    expect(JSON.stringify(model.calls[1]?.prompt.at(-1))).toContain('Your last answer was empty');
    expect(decisions(await run, 'models')).toEqual(['nudge']);
  });

  test(
    'what a model charged for nothing is counted also when a handler answers in its place; ' +
      'what no model was asked for costs nothing',
    async () => {
      const price = { input: 1_000_000, output: 1_000_000 };
      const load = (responses: ScriptedResponses) => {
        const scripted = scriptedModel(responses);
        return {
          kind: 'model' as const,
          provider: 'scripted',
          modelId: 'scripted',
          settings: {},
          price,
          load: () => scripted,
        };
      };
      const app = runtime({ app: 'test' });
      const instead = {
        name: 'instead',
        handle: () => ({ action: 'fallback' as const, result: 'busy' }),
      };
      const handled = await app.run(
        agent({ name: 'handled', model: load([{ thoughts: 'hm' }]), errorHandlers: [instead] }),
        'go',
      );
      expect(handled).toMatchObject({
        output: 'busy',
        usage: { inputTokens: 10, outputTokens: 5 },
        cost: 15,
      });
      const hooked = await app.run(
        agent({
          name: 'hooked',
          model: load([]),
          hooks: { beforeModel: () => ({ stepEvents: [{ type: 'assistant', text: 'hi' }] }) },
        }),
        'go',
      );
      expect(hooked).toMatchObject({
        output: 'hi',
        usage: { inputTokens: 0, outputTokens: 0 },
        cost: 0,
      });
    },
  );
});

test('middleware hears each event of a run once, and what it throws is not heard', async () => {
  const heard: Event['type'][] = [];
  const { app, helper } = setUp([says('done')], {
    runtimeMiddleware: [
      {
        name: 'listener',
        onStream: (event) => {
          if ('seq' in event) heard.push(event.type);
          throw new Error('nobody cares');
        },
      },
    ],
  });
  const result = await app.run(helper, 'go');
  expect(result.status).toBe('completed');
  expect(heard).toEqual(result.session.events.map(({ type }) => type));
});

describe('answers that are none', () => {
  const refusal = { text: 'I cannot help with that.', finishReason: 'content-filter' as const };

  test('a refusal goes to the next model; without one its words are the answer', async () => {
    const other = scriptedModel([says('Here it is.')], { modelId: 'other' });
    const both = await runtime({ app: 'test' }).run(
      agent({ name: 'helper', model: [scriptedModel([refusal]), other] }),
      'go',
    );
    expect(both.output).toBe('Here it is.');
    expect(eventsOf(both, 'model_end')[0]).toMatchObject({
      status: 'error',
      usage: { inputTokens: 10, outputTokens: 5 },
    });
    const alone = await runtime({ app: 'test' }).run(
      agent({ name: 'helper', model: scriptedModel([refusal]) }),
      'go',
    );
    expect(alone).toMatchObject({ status: 'completed', output: 'I cannot help with that.' });
  });

  test(
    'an answer that was withheld goes to the next model; without one it is an error that ' +
      'says so',
    async () => {
      const withheld = { finishReason: 'content-filter' as const };
      const other = scriptedModel([says('Here it is.')], { modelId: 'other' });
      const both = await runtime({ app: 'test' }).run(
        agent({ name: 'helper', model: [scriptedModel([withheld]), other] }),
        'go',
      );
      expect(both.output).toBe('Here it is.');
      const alone = await runtime({ app: 'test' }).run(
        agent({ name: 'helper', model: scriptedModel([withheld]) }),
        'go',
      );
      expect(alone).toMatchObject({ status: 'error', error: { code: 'model_content_filter' } });
    },
  );
});
