import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace';
import { agent, agentTool, runtime, secret, sequence, step, tool } from 'adjutant';
import { responseCache } from 'adjutant/middleware';
import { openTelemetry } from 'adjutant/opentelemetry';
import { scriptedModel } from 'adjutant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedSpans, spanOf } from './span-tree.ts';
import { calls, says, schema, traced } from './traced-run.ts';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

describe('the tree of spans', () => {
  test('an agent as a tool lies below the call, and what its tools do below them', async () => {
    const { app, tracer, tree } = traced();
    const fetchPage = tool({
      name: 'fetchPage',
      description: 'Fetches a page',
      schema,
      // As instrumentation of an HTTP client would do.
      execute: async () => {
        await Promise.resolve();
        tracer.startSpan('GET').end();
        return 'page';
      },
    });
    const researcher = agent({
      name: 'researcher',
      model: scriptedModel([calls('fetchPage'), says('found')]),
      tools: [fetchPage],
    });
    const research = agentTool(researcher, { name: 'research', description: 'Finds out' });
    const model = scriptedModel([
      { toolCalls: [{ name: 'research', args: { message: 'What?' } }] },
      says('done'),
    ]);
    const lead = agent({ name: 'lead', model, tools: [research] });
    const result = await tracer.startActiveSpan('request', async (span) => {
      const given = await app.run(lead, 'Go');
      span.end();
      return given;
    });
    expect(result.output).toBe('done');
    expect(await tree()).toEqual([
      'request',
      '  run lead',
      '    invoke_agent lead',
      '      round',
      '        chat scripted',
      '        execute_tool research',
      '          invoke_agent researcher',
      '            round',
      '              chat scripted',
      '              execute_tool fetchPage',
      '                GET',
      '            round',
      '              chat scripted',
      '      round',
      '        chat scripted',
    ]);
  });

  test('what the user traces around a child lies around it', async () => {
    const { app, tracer, tree } = traced();
    const writer = agent({ name: 'writer', model: scriptedModel([says('text')]) });
    const work = step({
      name: 'work',
      execute: (ctx) =>
        tracer.startActiveSpan('mine', async (span) => {
          await ctx.call(writer, { message: 'Write' });
          span.end();
        }),
    });
    await app.run(sequence({ name: 'flow', runnables: [work] }), 'Go');
    expect(await tree()).toEqual([
      'run flow',
      '  invoke_workflow flow',
      '    invoke_workflow work',
      '      mine',
      '        invoke_agent writer',
      '          round',
      '            chat scripted',
    ]);
  });

  test(
    'tools that run at the same time have their own spans, each active in ' + 'its own tool',
    async () => {
      const { app, tracer, spans } = traced();
      const gate = Promise.withResolvers<void>();
      let waiting = 0;
      const both = (name: string) =>
        tool({
          name,
          description: 'Waits for the other',
          schema,
          execute: async () => {
            if (++waiting === 2) gate.resolve();
            await gate.promise;
            tracer.startSpan(`in ${name}`).end();
          },
        });
      const pair = agent({
        name: 'pair',
        model: scriptedModel([calls('left', 'right'), says('done')]),
        tools: [both('left'), both('right')],
      });
      await app.run(pair, 'Go');
      const ended = await spans();
      for (const side of ['left', 'right']) {
        const parent = spanOf(ended, `in ${side}`).parentSpanContext?.spanId;
        expect(parent).toBe(spanOf(ended, `execute_tool ${side}`).spanContext().spanId);
      }
    },
  );

  test('spawned children, and dispatched ones that end after the run', async () => {
    const { app, tree, spans } = traced();
    const gate = Promise.withResolvers<void>();
    const late = step({ name: 'late', execute: () => gate.promise });
    const helper = agent({ name: 'helper', model: scriptedModel([says('helped')]) });
    const start = tool({
      name: 'start',
      description: 'Starts others',
      schema,
      execute: async (ctx) => {
        ctx.dispatch(late);
        const spawned = ctx.spawn(helper, { message: 'Help' });
        return (await spawned.wait()).output;
      },
    });
    const run = app.run(
      agent({ name: 'boss', model: scriptedModel([calls('start'), says('done')]), tools: [start] }),
      'Go',
    );
    expect((await run).status).toBe('completed');
    expect((await spans()).map(({ name }) => name)).not.toContain('invoke_workflow late');
    gate.resolve();
    await run.settled();
    expect((await tree()).filter((line) => /execute_tool|late|helper/.test(line))).toEqual([
      '      execute_tool start',
      '        invoke_workflow late',
      '        invoke_agent helper',
    ]);
  });

  test('an agent that takes over lies beside the one that handed over', async () => {
    const { tracerProvider, tree } = recordedSpans();
    const expert = agent({ name: 'expert', model: scriptedModel([says('solved')]) });
    const pass = tool({ name: 'pass', description: 'Hands over', schema, execute: () => expert });
    const desk = agent({ name: 'desk', model: scriptedModel([calls('pass')]), tools: [pass] });
    const app = runtime({
      app: 'test',
      runnables: [desk, expert],
      middleware: [openTelemetry({ tracerProvider })],
    });
    expect((await app.run(desk, 'Go')).output).toBe('solved');
    expect(await tree()).toEqual([
      'run desk',
      '  invoke_agent desk (transferred)',
      '    round',
      '      chat scripted',
      '      execute_tool pass',
      '  invoke_agent expert',
      '    round',
      '      chat scripted',
    ]);
  });

  test('a model that was not asked has no span, and who answered is said', async () => {
    const { tracerProvider, tree, spans } = recordedSpans();
    const app = runtime({
      app: 'test',
      middleware: [openTelemetry({ tracerProvider }), responseCache()],
    });
    const parrot = agent({ name: 'parrot', model: scriptedModel([says('Hello')]) });
    await app.run(parrot, 'Hi');
    await app.run(parrot, 'Hi');
    expect((await tree()).filter((line) => line.includes('chat'))).toHaveLength(1);
    const given = (await spans()).flatMap(({ events }) =>
      events.filter(({ name }) => name === 'adjutant.answer_given'),
    );
    expect(given.map(({ attributes }) => attributes)).toEqual([
      { 'adjutant.substituted_by': 'responseCache' },
    ]);
  });

  test('two runs at once do not mix', async () => {
    const { app, tracer, spans } = traced();
    const arrived = { count: 0, all: Promise.withResolvers<void>() };
    const meet = tool({
      name: 'meet',
      description: 'Waits until all are there',
      schema,
      execute: async (ctx) => {
        if (++arrived.count === 2) arrived.all.resolve();
        await arrived.all.promise;
        tracer.startSpan('met', { attributes: { session: ctx.session.id } }).end();
      },
    });
    const guest = (name: string) =>
      agent({ name, model: scriptedModel([calls('meet'), says('done')]), tools: [meet] });
    await Promise.all([
      app.run(guest('one'), { input: 'Go', session: 'a' }),
      app.run(guest('two'), { input: 'Go', session: 'b' }),
    ]);
    const ended = await spans();
    expect(new Set(ended.map((span) => span.spanContext().traceId)).size).toBe(2);
    for (const [name, session] of [
      ['one', 'a'],
      ['two', 'b'],
    ] as const) {
      const { traceId } = spanOf(ended, `run ${name}`).spanContext();
      const own = ended.filter((span) => span.spanContext().traceId === traceId);
      expect(own).toHaveLength(ended.length / 2);
      expect(
        new Set(
          own.map(
            ({ attributes }) => attributes['gen_ai.conversation.id'] ?? attributes['session'],
          ),
        ),
      ).toEqual(new Set([session]));
    }
  });

  test('without a context manager spans lie where the paths say', async () => {
    context.disable();
    try {
      const { app, tree } = traced();
      const inner = agent({ name: 'inner', model: scriptedModel([says('in')]) });
      const ask = agentTool(inner, { name: 'ask', description: 'Asks' });
      const model = scriptedModel([
        { toolCalls: [{ name: 'ask', args: { message: 'Well?' } }] },
        says('done'),
      ]);
      await app.run(agent({ name: 'outer', model, tools: [ask] }), 'Go');
      expect(await tree()).toEqual([
        'run outer',
        '  invoke_agent outer',
        '    round',
        '      chat scripted',
        '      execute_tool ask',
        '        invoke_agent inner',
        '          round',
        '            chat scripted',
        '    round',
        '      chat scripted',
      ]);
    } finally {
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    }
  });
});

describe('content', () => {
  const password = 'correct horse';
  const token = secret('token', 'tk-12"34');

  async function everythingRecorded(content: boolean): Promise<string> {
    const { app, spans } = traced({ content });
    const look = tool({
      name: 'look',
      description: 'Looks',
      schema,
      execute: () => ({ found: `hidden ${password}`, token, header: `Bearer ${token.reveal()}` }),
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'look', args: { place: 'drawer seven' } }] },
      says('It is in the box'),
    ]);
    await app.run(agent({ name: 'finder', model, tools: [look] }), 'Where is my hat?');
    return JSON.stringify(
      (await spans()).map(({ name, attributes, events, status }) => ({
        name,
        attributes,
        events,
        status,
      })),
    );
  }

  test('is not recorded unless it is asked for', async () => {
    const recorded = await everythingRecorded(false);
    for (const text of [password, 'drawer seven', 'in the box', 'my hat', 'tk-12'])
      expect(recorded).not.toContain(text);
  });

  test('with it, everything but secrets', async () => {
    const recorded = await everythingRecorded(true);
    for (const text of [password, 'drawer seven', 'in the box', 'my hat', '[secret token]'])
      expect(recorded).toContain(text);
    expect(recorded).not.toContain('tk-12');
  });
});

describe('without an SDK', () => {
  test('nothing is recorded, and nothing is kept in the ledger', async () => {
    const app = runtime({ app: 'test', middleware: [openTelemetry()] });
    const { status, session } = await app.run(
      agent({ name: 'quiet', model: scriptedModel([says('done')]) }),
      'Go',
    );
    expect(status).toBe('completed');
    expect(session.events.filter((event) => 'trace' in event)).toEqual([]);
  });

  test('an SDK that is registered later is used from then on', async () => {
    const app = runtime({ app: 'test', middleware: [openTelemetry()] });
    await app.run(agent({ name: 'first', model: scriptedModel([says('done')]) }), 'Go');
    const { tracerProvider, tree } = recordedSpans();
    trace.setGlobalTracerProvider(tracerProvider);
    try {
      await app.run(agent({ name: 'second', model: scriptedModel([says('done')]) }), 'Go');
      expect((await tree())[0]).toBe('run second');
    } finally {
      trace.disable();
    }
  });
});

test('options that cannot work are refused', () => {
  expect(() => openTelemetry({ tracerProvider: {} as never })).toThrow(/tracerProvider/);
  expect(() => openTelemetry({ contents: true } as never)).toThrow(/contents/);
  const middleware = [openTelemetry()];
  expect(() => agent({ name: 'deaf', model: scriptedModel([]), middleware })).toThrow(
    /runtime\(\{ middleware \}\)/,
  );
});

test('a run that is not sampled is traced by nobody, and those below it neither', async () => {
  const { tracerProvider, spans } = recordedSpans({ sampler: new AlwaysOffSampler() });
  const app = runtime({ app: 'test', middleware: [openTelemetry({ tracerProvider })] });
  const { session } = await app.run(
    agent({ name: 'unseen', model: scriptedModel([says('done')]) }),
    'Go',
  );
  expect(await spans()).toEqual([]);
  expect(
    session.events.flatMap((event) =>
      event.type === 'invocation_start' ? event.trace?.slice(-3) : [],
    ),
  ).toEqual(['-00']);
});
