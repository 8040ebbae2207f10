import { keptOpen } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { type TestClock, testClock } from '../../../../src/base/clocks/test-clock.ts';
import {
  type Agent,
  agent,
  type Hooks,
  memoryStore,
  type RunResult,
  type Runtime,
  runtime,
  tool,
  toolResult,
} from '../../../../src/index.ts';
import { eventually } from '../../../../src/testing/kit/eventually.ts';
import { scriptedModel } from '../../../../src/testing/kit/scripted-model.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Waits until a message that was sent is in the ledger. */
async function arrival(result: Pick<RunResult, 'session'>, text: string): Promise<void> {
  await eventually(
    () => result.session.events.some((event) => event.type === 'user' && event.text === text),
    { what: text },
  );
}

const finalTool = (execute: () => Promise<void> | void) =>
  tool({
    name: 'finish',
    description: 'Gives the answer',
    schema: { type: 'object' },
    execute: async () => {
      await execute();
      return { ...toolResult.success('the result'), final: true };
    },
  });

/** An agent whose hook `afterAgent` is called at most a few times. */
function counted(more: Partial<Parameters<typeof agent>[0]>) {
  let asked = 0;
  const hooks: Hooks = {
    afterAgent: () => {
      asked++;
      if (asked > 5) throw new Error('It is asked again and again.');
    },
  };
  const made = agent({
    name: 'helper',
    model: scriptedModel([{ toolCalls: [{ name: 'finish', args: {} }] }]),
    hooks,
    ...more,
  });
  return { made, asked: () => asked };
}

describe('what comes while hooks are asked', () => {
  test(
    'a message that comes while a tool gives the final result does not keep the agent from ' +
      'ending',
    async () => {
      let app: Runtime;
      const session = 'final';
      const { made, asked } = counted({ tools: [finalTool(() => app.send(session, 'And then?'))] });
      app = runtime({ app: 'test', runnables: [made] });
      const result = await app.run(made, { input: 'go', session });
      expect(result).toMatchObject({ status: 'completed', output: 'the result' });
      expect(asked()).toBe(1);
    },
  );

  test('an agent that is refused for what came in, and was told something too, ends', async () => {
    const { made, asked } = counted({
      supervision: {
        guardrails: [
          { name: 'advice', input: () => ({ action: 'guide', message: 'Be careful.' }) },
          { name: 'no', input: () => ({ action: 'deny', message: 'Not here.' }) },
        ],
      },
    });
    const result = await runtime({ app: 'test' }).run(made, 'go');
    expect(result).toMatchObject({
      status: 'completed',
      output: 'Not here.',
      stopReason: 'refused',
    });
    expect(asked()).toBe(1);
  });

  test.each([
    ['leaves the prompt', false],
    ['gives a prompt', true],
  ])(
    'a message that comes while beforeModel is asked is in the prompt, when the hook %s',
    async (_what, gives) => {
      let app: Runtime;
      let isSent = false;
      const session = 'meanwhile';
      const model = scriptedModel([{ text: 'both' }]);
      const hooks: Hooks = {
        beforeModel: async (ctx, prompt) => {
          const given = prompt.withEvents(prompt.events);
          if (!isSent) {
            isSent = true;
            await app.send(session, 'And this?');
            await arrival(ctx as unknown as RunResult, 'And this?');
          }
          return gives ? given : undefined;
        },
      };
      const helper = agent({ name: 'helper', model, hooks });
      app = runtime({ app: 'test', runnables: [helper] });
      await app.run(helper, { input: 'go', session });
      expect(model.calls).toHaveLength(1);
      expect(JSON.stringify(model.calls[0]?.prompt)).toContain('And this?');
    },
  );

  test('guardrails look at a message that comes while beforeModel is asked', async () => {
    let app: Runtime;
    let isSent = false;
    const session = 'guarded';
    const model = scriptedModel([{ text: 'an answer' }]);
    const helper = agent({
      name: 'helper',
      model,
      supervision: {
        guardrails: [
          {
            name: 'no',
            input: ({ text }) =>
              text.includes('forbidden') ? { action: 'deny', message: 'Not here.' } : undefined,
          },
        ],
      },
      hooks: {
        beforeModel: async (ctx) => {
          if (isSent) return;
          isSent = true;
          await app.send(session, 'something forbidden');
          await arrival(ctx as unknown as RunResult, 'something forbidden');
        },
      },
    });
    app = runtime({ app: 'test', runnables: [helper] });
    const result = await app.run(helper, { input: 'go', session });
    expect(result).toMatchObject({ output: 'Not here.', stopReason: 'refused' });
    expect(model.calls).toHaveLength(0);
  });
});

describe('a stop while beforeTool is asked', () => {
  function setUp() {
    const asked = Promise.withResolvers<void>();
    const untilStopped: Hooks = {
      beforeTool: ({ signal }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve());
        asked.resolve();
        return promise;
      },
    };
    const store = memoryStore();
    let ran = 0;
    const write = tool({
      name: 'write',
      description: 'Writes',
      schema: { type: 'object' },
      recovery: 'report',
      execute: () => {
        ran++;
        return 'written';
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'write', args: {} }] }, { text: 'done' }]);
    const process = (hooked: Hooks) => {
      const helper = agent({ name: 'helper', model, tools: [write], hooks: hooked });
      // The store stays open for the next process.
      const app = runtime({
        app: 'test',
        runnables: [helper],
        store: keptOpen(store),
        recover: 'manual',
      });
      return { app, helper };
    };
    return { process, first: process(untilStopped), isAsked: asked.promise, ran: () => ran };
  }

  test(
    'by the end of the process: nothing was attempted, and the next process begins the call ' +
      'anew',
    async () => {
      const { process, first, isAsked, ran } = setUp();
      const running = first.app.run(first.helper, { input: 'go', session: 's' });
      running.then(undefined, () => undefined);
      await isAsked;
      await first.app.close();
      const { app, helper } = process({});
      const result = await app.run(helper, { session: 's' });
      const results = result.session.events.filter((event) => event.type === 'tool_result');
      expect(results.map((event) => event.result.status)).toEqual(['success']);
      expect(ran()).toBe(1);
    },
  );

  test('by a cancel: nothing was attempted', async () => {
    const { first, isAsked, ran } = setUp();
    const running = first.app.run(first.helper, { input: 'go', session: 's' });
    await isAsked;
    running.cancel();
    const result = await running;
    expect(result.status).toBe('cancelled');
    expect(result.session.events.some(({ type }) => type === 'tool_attempt')).toBe(false);
    expect(ran()).toBe(0);
  });
});

describe('a schema that never says whether something fits', () => {
  function setUp() {
    const clock = testClock();
    const asked = Promise.withResolvers<void>();
    const form = () => ({ type: 'object' });
    const validate = () => {
      asked.resolve();
      return new Promise<never>(() => undefined);
    };
    const never = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate,
        jsonSchema: { input: form, output: form },
      },
    };
    return { clock, never, isAsked: asked.promise };
  }

  async function cancelled(
    made: Agent,
    clock: TestClock,
    isAsked: Promise<void>,
  ): Promise<RunResult> {
    const running = runtime({ app: 'test', ports: { clock } }).run(made, 'go');
    await isAsked;
    running.cancel();
    await nextTurn();
    clock.advance(1_000);
    return running;
  }

  test('of an answer does not keep a cancelled run from ending', async () => {
    const { clock, never, isAsked } = setUp();
    const typed = agent({
      name: 'typed',
      model: scriptedModel([{ text: '{"a":1}' }]),
      output: never,
    });
    expect((await cancelled(typed as Agent, clock, isAsked)).status).toBe('cancelled');
  });

  test('of the arguments of a tool does not either', async () => {
    const { clock, never, isAsked } = setUp();
    const write = tool({
      name: 'write',
      description: 'Writes',
      schema: never,
      execute: () => 'written',
    });
    const writer = agent({
      name: 'writer',
      model: scriptedModel([{ toolCalls: [{ name: 'write', args: {} }] }]),
      tools: [write],
    });
    const { status, session } = await cancelled(writer, clock, isAsked);
    expect(status).toBe('cancelled');
    expect(
      session.events
        .filter((event) => event.type === 'tool_result')
        .map(({ result }) => result.errorType),
    ).toEqual(['cancelled']);
  });
});
