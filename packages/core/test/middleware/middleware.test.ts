import {
  agent,
  type ErrorContext,
  type ErrorHandler,
  type Event,
  type EventOf,
  type EventType,
  type Middleware,
  runtime,
  ToolFailure,
  tool,
} from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import {
  cliMiddleware,
  globalInstructions,
  type LogEntry,
  loggingHandler,
  loggingMiddleware,
  rateLimitHandler,
  responseCache,
  retryHandler,
  stripThinkTags,
  timeoutHandler,
} from 'adjutant/middleware';
import {
  eventually,
  type ScriptedResponse,
  scriptedModel,
  type TestClock,
  testClock,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';

function eventsOf<Type extends EventType>(events: readonly Event[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

const echo = tool({
  name: 'echo',
  description: 'Says it again',
  schema: { type: 'object' },
  readOnly: true,
  execute: (ctx) => ctx.args,
});
const callsEcho: ScriptedResponse = { toolCalls: [{ name: 'echo', args: { text: 'hunter2' } }] };

function setUp(
  responses: readonly ScriptedResponse[],
  middleware: readonly Middleware[],
  clock: TestClock = testClock(),
) {
  const model = scriptedModel(responses);
  const helper = agent({
    name: 'helper',
    model,
    tools: [echo],
    context: [injectSystemMessage('You help.'), includeHistory()],
  });
  return {
    app: runtime({ app: 'test', runnables: [helper], middleware, ports: { clock } }),
    helper,
    model,
    clock,
  };
}

describe('responseCache', () => {
  test('an equal call is answered without the model, and the ledger says by whom', async () => {
    const { app, helper, model } = setUp([callsEcho, { text: 'one' }], [responseCache()]);
    const first = await app.run(helper, 'Hi');
    const second = await app.run(helper, 'Hi');
    expect([first.output, second.output]).toEqual(['one', 'one']);
    expect(model.calls).toHaveLength(2);
    const ends = eventsOf(second.session.events, 'model_end');
    expect(
      ends.map(({ substitutedBy, cost, usage }) => [substitutedBy, cost ?? 0, usage.inputTokens]),
    ).toEqual([
      ['responseCache', 0, 0],
      ['responseCache', 0, 0],
    ]);
    expect(
      eventsOf(first.session.events, 'model_end').map(({ substitutedBy }) => substitutedBy),
    ).toEqual([undefined, undefined]);
    // The tool calls of an answer are made, whoever gave it.
    expect(eventsOf(second.session.events, 'tool_result')).toHaveLength(1);
  });

  test('when its time is over the model is asked again, by the clock of the runtime', async () => {
    const { app, helper, model, clock } = setUp(
      [{ text: 'one' }, { text: 'two' }],
      [responseCache({ ttlMs: 1_000 })],
    );
    await app.run(helper, 'Hi');
    clock.advance(1_000);
    expect((await app.run(helper, 'Hi')).output).toBe('two');
    expect(model.calls).toHaveLength(2);
  });

  test('an answer from it is not kept again: it does not live longer by being used', async () => {
    const { app, helper, model, clock } = setUp(
      [{ text: 'one' }, { text: 'two' }],
      [responseCache({ ttlMs: 1_000 })],
    );
    await app.run(helper, 'Hi');
    clock.advance(600);
    await app.run(helper, 'Hi');
    clock.advance(600);
    expect((await app.run(helper, 'Hi')).output).toBe('two');
    expect(model.calls).toHaveLength(2);
  });
});

describe('stripThinkTags', () => {
  test(
    'thoughts are recorded as such, streamed as such, and the answer is ' + 'what is left',
    async () => {
      const { app, helper } = setUp(
        [{ chunks: ['<thi', 'nk>Let me', ' see.</th', 'ink>\n\nFort', 'y-two.'] }],
        [stripThinkTags()],
      );
      const run = app.run(helper, 'Well?');
      const deltas: string[] = [];
      for await (const event of run)
        if (event.type === 'assistant_delta' || event.type === 'thought_delta')
          deltas.push(`${event.type} ${event.delta}`);
      const { output, session } = await run;
      expect(output).toBe('Forty-two.');
      expect(eventsOf(session.events, 'thought').map(({ text }) => text)).toEqual(['Let me see.']);
      expect(eventsOf(session.events, 'assistant').map(({ text }) => text)).toEqual(['Forty-two.']);
      expect(deltas).toEqual([
        'thought_delta Let me',
        'thought_delta  see.',
        'assistant_delta Fort',
        'assistant_delta y-two.',
      ]);
    },
  );
});

describe('globalInstructions', () => {
  test('stand before what the agent says itself', async () => {
    const { app, helper, model } = setUp(
      [{ text: 'ok' }],
      [
        globalInstructions('No emoji.'),
        globalInstructions(({ agent: name }) => `You are ${name}.`),
      ],
    );
    await app.run(helper, 'Hi');
    const system = model.calls[0]?.prompt
      .filter(({ role }) => role === 'system')
      .map(({ content }) => content);
    expect(JSON.stringify(system)).toMatch(/No emoji\..*You are helper\..*You help\./);
  });
});

describe('loggingMiddleware', () => {
  test('each point of a run, without what was said', async () => {
    const entries: LogEntry[] = [];
    const { app, helper } = setUp(
      [callsEcho, { text: 'hunter2' }],
      [loggingMiddleware({ level: 'debug', onLog: (entry) => void entries.push(entry) })],
    );
    await app.run(helper, 'hunter2');
    expect(entries.map(({ point }) => point)).toEqual([
      'beforeAgent',
      'beforeModel',
      'beforeCall',
      'afterModel',
      'beforeTool',
      'afterTool',
      'beforeModel',
      'beforeCall',
      'afterModel',
      'afterAgent',
    ]);
    expect(JSON.stringify(entries)).not.toContain('hunter2');
  });
});

describe('cliMiddleware', () => {
  test('prints a run while it happens', async () => {
    let text = '';
    const write = (piece: string) => {
      text += piece;
    };
    const { app, helper } = setUp(
      [callsEcho, { chunks: ['It is ', 'done.'] }],
      [cliMiddleware({ write })],
    );
    await app.run(helper, 'Go');
    // Texts are written at once, and what is recorded when it is durable.
    expect(text.split('\n').sort()).toEqual(['', '[helper] It is done.', '→ echo']);
  });
});

function failing(
  failures: readonly ToolFailure[],
  errorHandlers: readonly ErrorHandler[],
  agentHandlers: readonly ErrorHandler[] = [],
  attemptsOfAll = 3,
) {
  const clock = testClock();
  let attempts = 0;
  const fetchIt = tool({
    name: 'fetch',
    description: 'Fetches',
    schema: { type: 'object' },
    readOnly: true,
    execute: () => {
      const failure = failures[attempts++];
      if (failure !== undefined) throw failure;
      return 'here';
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'fetch' }] }, { text: 'done' }]);
  const helper = agent({ name: 'helper', model, tools: [fetchIt], errorHandlers: agentHandlers });
  const supervision = { errors: { attempts: attemptsOfAll } };
  const app = runtime({
    app: 'test',
    runnables: [helper],
    errorHandlers,
    supervision,
    ports: { clock },
  });
  return { app, helper, clock, model, attempts: () => attempts };
}

/** Runs to the end, letting time pass where something waits for it; gives how much passed. */
async function finish({ app, helper, clock }: ReturnType<typeof failing>) {
  const result = await eventually(app.run(helper, 'Go'), { clock, stepMs: 50 });
  return { result, waited: clock.monotonic() };
}

const http = (status: number, retryAfterMs?: number) =>
  new ToolFailure('no', {
    errorType: `http_${status}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe('error handlers of tools', () => {
  test(
    'rateLimitHandler: as long as the other side asks for, and at most as often as all ' +
      'attempts together may be',
    async () => {
      const limited = Array(9).fill(http(429, 300));
      const setup = failing(limited, [rateLimitHandler()], [], 10);
      const { result } = await finish(setup);
      expect(setup.attempts()).toBe(6);
      const delays = eventsOf(result.session.events, 'tool_result').map(
        ({ retryAfterMs }) => retryAfterMs,
      );
      expect(delays).toEqual([300, 300, 300, 300, 300, undefined]);
    },
  );

  test('all share one count of attempts, which is 3 unless it is set', async () => {
    const setup = failing(Array(9).fill(http(429, 300)), [rateLimitHandler()]);
    const { result } = await finish(setup);
    expect(setup.attempts()).toBe(3);
    const handled = eventsOf(result.session.events, 'decision').filter(
      ({ component }) => component === 'error_handler',
    );
    expect(handled.map(({ decision }) => decision)).toEqual(['retry', 'retry', 'refuse_retry']);
  });

  test('retryHandler: at most so many attempts; what it passes on is for the router', async () => {
    const setup = failing(Array(9).fill(new ToolFailure('busy', { status: 'error_transient' })), [
      retryHandler({ attempts: 3, initialDelayMs: 100 }),
    ]);
    const { result } = await finish(setup);
    expect(setup.attempts()).toBe(3);
    const delays = eventsOf(result.session.events, 'tool_result').map(
      ({ retryAfterMs }) => retryAfterMs,
    );
    expect(delays).toEqual([100, 200, undefined]);
    expect(
      eventsOf(result.session.events, 'decision').map(
        ({ component, decision }) => `${component} ${decision}`,
      ),
    ).toEqual(['error_handler retry', 'error_handler retry', 'error_router report']);
  });

  test('timeoutHandler: its result is read in the place of the one that did not come', async () => {
    const setup = failing(
      [new ToolFailure('slow', { status: 'timeout', errorType: 'timeout' })],
      [timeoutHandler({ fallbackResult: 'Nobody was there.' })],
    );
    const { result } = await finish(setup);
    expect(result.output).toBe('done');
    expect(setup.attempts()).toBe(1);
    expect(JSON.stringify(setup.model.calls[1]?.prompt)).toContain('Nobody was there.');
  });

  test(
    'loggingHandler sees each failure, before those behind it; the runtime before ' + 'the agent',
    async () => {
      const seen: string[] = [];
      const note = (who: string) =>
        loggingHandler({
          onError: ({ error, attempt, phase, call }: ErrorContext) =>
            void seen.push(`${who} ${phase} ${call?.name} ${error.code} ${attempt}`),
        });
      const setup = failing(
        [http(503)],
        [note('runtime')],
        [note('agent'), retryHandler({ initialDelayMs: 1 })],
      );
      const { result } = await finish(setup);
      expect(result.output).toBe('done');
      expect(seen).toEqual(['runtime tool fetch http_503 1', 'agent tool fetch http_503 1']);
    },
  );

  test.each([
    ['skip', 'completed', 1],
    ['throw', 'error', 1],
    ['abort', 'cancelled', 1],
  ] as const)('%s: the run is %s', async (action, status, attempts) => {
    const setup = failing([http(503), http(503)], [{ name: 'own', handle: () => ({ action }) }]);
    const { result } = await finish(setup);
    expect(result.status).toBe(status);
    expect(setup.attempts()).toBe(attempts);
    expect(
      eventsOf(result.session.events, 'decision').find(
        ({ component }) => component === 'error_handler',
      ),
    ).toMatchObject({ decision: action });
  });
});
