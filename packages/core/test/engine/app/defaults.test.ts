import {
  type AgentOptions,
  agent,
  agentTool,
  type Event,
  type RuntimeOptions,
  requestAlternativeApproach,
  runtime,
  step,
  tool,
} from 'adjutant';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const schema = z.object({});
const child = step({ name: 'child', execute: (ctx) => ctx.complete('done') });
const adviser = step({ name: 'adviser', execute: (ctx) => ctx.complete('Try again.') });

/** Runs an agent of an app with these options on a clock that stands still. */
async function ran(options: Partial<RuntimeOptions>, own: Partial<AgentOptions>) {
  const clock = testClock();
  const app = runtime({ app: 'shop', ...options, ports: { clock } });
  const model = scriptedModel([{ text: 'done' }]);
  const session = await app.sessions.open({ id: 's' });
  const running = app.run(agent({ name: 'clerk', model, ...own }), { session, input: 'Go' });
  return { clock, app, running, session, events: () => session.events as readonly Event[] };
}

const calling = (...names: readonly string[]) =>
  scriptedModel([{ toolCalls: names.map((name) => ({ name })) }, { text: 'done' }]);

describe('time of tools', () => {
  const quick = tool({ name: 'quick', description: 'Works', schema, execute: () => 'ok' });
  const own = tool({
    name: 'own',
    description: 'Works',
    schema,
    timeoutMs: 7_000,
    execute: () => 'ok',
  });
  const ask = agentTool(child, { name: 'ask' });
  const askOwn = agentTool(child, { name: 'ask_own', timeoutMs: 8_000 });
  const advice = requestAlternativeApproach({ advisor: adviser, name: 'advice' });
  const tools = [quick, own, ask, askOwn, advice];

  const deadlines = async (defaults: RuntimeOptions['defaults']) => {
    const model = scriptedModel([
      {
        toolCalls: tools.map(({ name }) =>
          name === 'advice'
            ? { name, args: { task: 'a', attempts: 'b' } }
            : name.startsWith('ask')
              ? { name, args: { message: 'Go' } }
              : { name },
        ),
      },
      { text: 'done' },
    ]);
    const { running, events } = await ran(defaults === undefined ? {} : { defaults }, {
      model,
      tools,
    });
    expect((await running).output).toBe('done');
    return events().flatMap((event) =>
      event.type === 'tool_attempt' ? [(event.deadline ?? 0) - event.at] : [],
    );
  };

  test('is that of the tool, else of the runtime, else the built-in one', async () => {
    expect(await deadlines(undefined)).toEqual([30_000, 7_000, 120_000, 8_000, 120_000]);
    expect(await deadlines({ toolTimeoutMs: 5_000, agentCallTimeoutMs: 60_000 })).toEqual([
      5_000, 7_000, 60_000, 8_000, 60_000,
    ]);
  });

  test('of the runtime ends an attempt', async () => {
    const never = tool({
      name: 'never',
      description: 'Hangs',
      schema,
      readOnly: true,
      execute: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    const { clock, running, events } = await ran(
      { defaults: { toolTimeoutMs: 5_000 } },
      { model: calling('never'), tools: [never], supervision: false },
    );
    await eventually(() => events().some(({ type }) => type === 'tool_attempt'));
    clock.advance(5_000);
    await running;
    expect(events().find(({ type }) => type === 'tool_result')).toMatchObject({
      result: { status: 'timeout' },
    });
  });

  test('is extended to that of a called agent by the first call of a tool', async () => {
    const called = tool({
      name: 'called',
      description: 'Calls',
      schema,
      execute: async (ctx) => {
        const { deadline: before = 0 } = ctx;
        await ctx.call(child);
        return (ctx.deadline ?? 0) - before;
      },
    });
    const { running, events } = await ran(
      { defaults: { toolTimeoutMs: 5_000, agentCallTimeoutMs: 9_000 } },
      { model: calling('called'), tools: [called] },
    );
    await running;
    expect(events().find(({ type }) => type === 'tool_result')).toMatchObject({
      result: { content: 4_000 },
    });
  });
});

test('agents that a body calls have the time of the runtime, or that of the call', async () => {
  const helper = agent({
    name: 'helper',
    model: scriptedModel([], { defaultResponse: { text: 'ok' } }),
  });
  const caller = step({
    name: 'caller',
    execute: async (ctx) => {
      await ctx.call(helper, { key: 'one', message: 'Go' });
      await ctx.call(helper, { key: 'two', message: 'Go', timeoutMs: 4_000 });
    },
  });
  const app = runtime({
    app: 'shop',
    defaults: { agentCallTimeoutMs: 60_000 },
    ports: { clock: testClock() },
  });
  const { session } = await app.run(caller);
  const children = session.events.flatMap((event) =>
    event.type === 'invocation_start' && event.kind === 'agent' ? [event] : [],
  );
  expect(children.map(({ at, deadline = 0 }) => deadline - at)).toEqual([60_000, 4_000]);
});

test('approvals expire after the time of the runtime, unless the tool says otherwise', async () => {
  const plain = tool({ name: 'plain', description: 'a', schema, approval: true, execute: () => 1 });
  const own = tool({
    name: 'own',
    description: 'b',
    schema,
    approval: { expiresInMs: 9_000 },
    execute: () => 2,
  });
  const { clock, app, running } = await ran(
    { defaults: { approvalExpiresInMs: 60_000 } },
    { model: calling('plain', 'own'), tools: [plain, own] },
  );
  const { pendingApprovals } = await running;
  expect(pendingApprovals.map(({ expiresAt = 0 }) => expiresAt - clock.now())).toEqual([
    60_000, 9_000,
  ]);
  await app.close();
});

describe('tool concurrency', () => {
  async function mostAtOnce(defaults: RuntimeOptions['defaults'], own: Partial<AgentOptions>) {
    let now = 0;
    let most = 0;
    const work = tool({
      name: 'work',
      description: 'Works',
      schema,
      readOnly: true,
      execute: async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
      },
    });
    const names = Array.from({ length: 6 }, () => 'work');
    const { running } = await ran(defaults === undefined ? {} : { defaults }, {
      model: calling(...names),
      tools: [work],
      supervision: false,
      ...own,
    });
    await running;
    return most;
  }

  test('is that of the agent, else of the runtime, else the built-in one', async () => {
    expect(await mostAtOnce(undefined, {})).toBe(6);
    expect(await mostAtOnce({ toolConcurrency: 2 }, {})).toBe(2);
    expect(await mostAtOnce({ toolConcurrency: 2 }, { toolConcurrency: 3 })).toBe(3);
  });
});

describe('model calls', () => {
  test('end after the time of the runtime', async () => {
    const model = scriptedModel([{ text: 'late', delayMs: 600_000 }, { text: 'done' }]);
    const { clock, running, events } = await ran(
      { defaults: { modelTimeoutMs: 5_000, modelRetry: { attempts: 1 } } },
      { model },
    );
    await eventually(() => events().some(({ type }) => type === 'model_start'));
    await eventually(() => model.calls.length === 1);
    clock.advance(5_000);
    const result = await running;
    expect(result.error).toMatchObject({ code: 'model_timeout' });
  });

  test('are repeated as the runtime says, option by option', async () => {
    const failing = scriptedModel(() => ({ error: { status: 503 } }));
    const { clock, running, events } = await ran(
      { defaults: { modelRetry: { attempts: 2, initialDelayMs: 400, jitter: false } } },
      { model: failing },
    );
    await eventually(() => events().some(({ type }) => type === 'model_end'));
    expect(events().find(({ type }) => type === 'model_end')).toMatchObject({ retryAfterMs: 400 });
    clock.advance(400);
    expect((await running).status).toBe('error');
    expect(failing.calls).toHaveLength(2);
  });
});

describe('tool results in prompts', () => {
  const big = tool({
    name: 'big',
    description: 'Gives much',
    schema,
    readOnly: true,
    execute: () => 'x'.repeat(300_000),
  });
  async function shown(options: Partial<RuntimeOptions>, own: Partial<AgentOptions> = {}) {
    const model = scriptedModel([{ toolCalls: [{ name: 'big' }] }, { text: 'done' }], {
      contextWindow: 100_000,
    });
    const { running } = await ran(options, { model, tools: [big], ...own });
    await running;
    return (/x{100,}/.exec(JSON.stringify(model.calls[1]?.prompt))?.[0].length ?? 0) / 1_000;
  }

  test('take the share and the characters of the agent, else of the runtime', async () => {
    expect(Math.ceil(await shown({}))).toBe(120);
    expect(Math.ceil(await shown({ compaction: { resultShare: 0.1 } }))).toBe(40);
    expect(Math.ceil(await shown({ compaction: { resultCharacters: 9_000 } }))).toBe(9);
    expect(
      Math.ceil(
        await shown({ compaction: { resultShare: 0.1 } }, { compaction: { resultShare: 0.2 } }),
      ),
    ).toBe(80);
    expect(
      Math.ceil(await shown({ compaction: { resultCharacters: 9_000 } }, { compaction: false })),
    ).toBe(9);
  });
});

describe('recoveries from refused prompts', () => {
  async function refused(options: Partial<RuntimeOptions>, own: Partial<AgentOptions> = {}) {
    const big = tool({
      name: 'big',
      description: 'Gives much',
      schema,
      recovery: 'rerun',
      execute: () => 'word '.repeat(4_000),
    });
    const model = scriptedModel(
      (_prompt, answered) =>
        answered === 0
          ? { toolCalls: [{ name: 'big' }, { name: 'big', args: {} }] }
          : { text: 'done' },
      { contextWindow: 5_000, isWindowKnown: false },
    );
    const { running } = await ran(options, { model, tools: [big], ...own });
    const { status, error } = await running;
    return error?.code ?? status;
  }

  test('are as many as the agent allows, else the runtime', async () => {
    expect(await refused({})).toBe('completed');
    expect(await refused({ compaction: { recoveries: 0 } })).toBe('model_context_overflow');
    expect(
      await refused({ compaction: { recoveries: 0 } }, { compaction: { recoveries: 1 } }),
    ).toBe('completed');
  });
});

describe('defaults that do not fit are refused', () => {
  test.each([
    [{ toolTimeout: 5 }, /without `toolTimeout` \(did you mean `toolTimeoutMs`\?\)/],
    [{ toolTimeoutMs: '5s' }, /`toolTimeoutMs` is a number greater than 0/],
    [{ agentCallTimeoutMs: 0 }, /`agentCallTimeoutMs` is a number greater than 0, not 0/],
    [{ approvalExpiresInMs: -1 }, /`approvalExpiresInMs` is a number greater than 0, not -1/],
    [{ toolConcurrency: 1.5 }, /`toolConcurrency` is a whole number from 1, not 1.5/],
    [{ maxConcurrency: 2 }, /it is `toolConcurrency` here/],
    [{ modelTimeoutMs: null }, /`modelTimeoutMs` is a number greater than 0/],
    [{ modelRetry: { maxRetries: 2 } }, /it is called `attempts` now/],
    [{ maxRetries: 2 }, /it is `modelRetry.attempts` here and counts the first attempt too/],
    [{ timeout: 2 }, /runs, calls and tools have one: app.run\(agent, { timeoutMs: 60_000 }\)/],
    [3, /`defaults` must be an object, not 3/],
  ])('%j', (defaults, message) => {
    expect(() => runtime({ app: 'shop', defaults: defaults as never })).toThrow(message);
  });

  test.each([
    [{ resultShare: 30 }, /`resultShare` is a number above 0, at most 1, not 30/],
    [{ resultCharacters: 0 }, /`resultCharacters` is a whole number from 1, not 0/],
    [{ recoveries: -1 }, /`recoveries` is a whole number from 0, not -1/],
    [{ maxToolResultShare: 0.1 }, /it is `resultShare` here/],
  ])('compaction %j', (compaction, message) => {
    expect(() => runtime({ app: 'shop', compaction: compaction as never })).toThrow(message);
  });
});
