import {
  type AgentOptions,
  agent,
  type Event,
  type HookContext,
  memoryStore,
  runtime,
  type Session,
  sequence,
  tool,
} from 'adjutant';
import type { Guardrail } from 'adjutant/guardrails';
import {
  eventually,
  keptOpen,
  promptTooLong,
  type ScriptedResponse,
  scriptedModel,
  testClock,
  tickingClock,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const schema = z.object({ n: z.number() });
const note = (ctx: HookContext, key: string) => {
  ctx.state[key] = true;
};
const calls = (...numbers: readonly number[]): ScriptedResponse => ({
  toolCalls: numbers.map((n) => ({ name: 'look', args: { n } })),
});
const look = tool({
  name: 'look',
  description: 'Looks',
  schema,
  recovery: 'rerun',
  execute: ({ args }) => `seen ${args.n}`,
});

const over = (running: PromiseLike<unknown>) =>
  running.then(
    () => undefined,
    () => undefined,
  );

/** The events of the append that an event came with: each append has a time of its own. */
const beside = (events: readonly Event[], found: Event | undefined) =>
  events.filter(({ at }) => at === found?.at);
const keysIn = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'state_change' ? event.changes.map(({ key }) => key) : [],
  );
const decidedIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'decision' ? [event.decision] : []));

/** Hides what a tool found. */
const hiding: Guardrail = {
  name: 'hiding',
  toolResult: () => ({ action: 'transform', value: 'hidden' }),
};

describe('what hooks of calls beside each other write and decide', () => {
  test('stands with the call that it is about', async () => {
    const worker = agent({
      name: 'worker',
      model: scriptedModel([calls(1, 2, 3), { text: 'done' }]),
      tools: [look],
      hooks: {
        beforeTool: async (ctx, { args, callId }) => {
          note(ctx, `before ${callId}`);
          await Promise.resolve();
          return (args as { n: number }).n === 2 ? 'known' : undefined;
        },
        afterTool: async (ctx, { callId }, result) => {
          note(ctx, `after ${callId}`);
          await Promise.resolve();
          return { ...result, content: 'changed' };
        },
      },
    });
    const { session } = await runtime({ app: 'stops', ports: { clock: tickingClock() } }).run(
      worker,
      { input: 'Go', runId: 'run' },
    );
    const results = session.events.filter((event) => event.type === 'tool_result');
    const attempts = session.events.filter((event) => event.type === 'tool_attempt');
    expect(results).toHaveLength(3);
    for (const result of results) {
      const { callId } = result;
      const batch = beside(session.events, result);
      const isKnown = callId.endsWith('.1');
      expect([callId, keysIn(batch)]).toEqual([
        callId,
        [`${isKnown ? 'before' : 'after'} ${callId}`],
      ]);
      expect(decidedIn(batch)).toEqual([isKnown ? 'skip_tool' : 'change_result']);
    }
    expect(
      attempts.map((attempt) => [attempt.callId, keysIn(beside(session.events, attempt))]),
    ).toEqual(attempts.map(({ callId }) => [callId, [`before ${callId}`]]));
  });

  test('adds up where they write the same', async () => {
    const count = (ctx: HookContext) => {
      ctx.state['count'] = ((ctx.state['count'] as number | undefined) ?? 0) + 1;
    };
    const hooks = { beforeTool: count, afterTool: count };
    const worker = agent({
      name: 'worker',
      model: scriptedModel([calls(1, 2, 3), calls(4), { text: 'done' }]),
      tools: [look],
      hooks,
    });
    const { session } = await runtime({ app: 'stops' }).run(worker, 'Go');
    expect(session.state).toEqual({ count: 8 });
  });
});

describe('a result that comes after the run was stopped', () => {
  const slow = () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const execute = async () => {
      begun.resolve();
      await goOn.promise;
      return 'a secret';
    };
    return {
      begun: begun.promise,
      goOn: goOn.resolve,
      tool: tool({ name: 'look', description: 'Looks', schema, execute }),
    };
  };
  const guardedWorker = (made: ReturnType<typeof slow>) =>
    agent({
      name: 'worker',
      model: scriptedModel([calls(1), { text: 'done' }]),
      tools: [made.tool],
      supervision: { guardrails: [hiding] },
    });

  test.each(['given back', 'cancelled'] as const)(
    'goes through the guardrails (%s)',
    async (how) => {
      const made = slow();
      const app = runtime({ app: 'stops', store: keptOpen(memoryStore()), recover: 'manual' });
      const session = await app.sessions.open({ id: 's' });
      const running = app.run(guardedWorker(made), { session, input: 'Go' });
      await made.begun;
      if (how === 'given back') running.stop();
      else await app.cancel('s', { by: 'operator', reason: 'enough' });
      made.goOn();
      await over(running);
      await running.settled();
      const results = session.events.filter((event) => event.type === 'tool_result');
      expect(results).toMatchObject([
        { settled: true, result: { status: 'success', content: 'hidden' } },
      ]);
      expect(JSON.stringify(session.events)).not.toContain('a secret');
      await app.close();
    },
  );

  test('is handed over to hooks', async () => {
    const made = slow();
    const hooks = {
      afterTool: async (_ctx: HookContext, _call: unknown, result: object) => ({
        ...result,
        content: 'looked at',
      }),
    };
    const worker = agent({
      name: 'worker',
      model: scriptedModel([calls(1)]),
      tools: [made.tool],
      hooks,
    });
    const app = runtime({ app: 'stops', store: keptOpen(memoryStore()), recover: 'manual' });
    const session = await app.sessions.open({ id: 's' });
    const running = app.run(worker, { session, input: 'Go' });
    await made.begun;
    running.stop();
    made.goOn();
    await over(running);
    await running.settled();
    expect(session.events.filter((event) => event.type === 'tool_result')).toMatchObject([
      { settled: true, result: { content: 'looked at' } },
    ]);
    await app.close();
  });
});

test('what a tool gives after its time goes through the guardrails too', async () => {
  const clock = testClock();
  const goOn = Promise.withResolvers<void>();
  const late = tool({
    name: 'look',
    description: 'Looks',
    schema,
    timeoutMs: 1_000,
    execute: async () => {
      await goOn.promise;
      return 'a secret';
    },
  });
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    schema,
    readOnly: true,
    execute: () => goOn.promise.then(() => 'waited'),
  });
  const model = scriptedModel([
    calls(1),
    { toolCalls: [{ name: 'wait', args: { n: 1 } }] },
    { text: 'done' },
  ]);
  const worker = agent({
    name: 'worker',
    model,
    tools: [late, wait],
    supervision: { guardrails: [hiding], errors: false },
  });
  const running = runtime({ app: 'stops', ports: { clock } }).run(worker, 'Go');
  await eventually(() => model.calls.length === 2, {
    what: 'the second round',
    clock,
    stepMs: 500,
  });
  goOn.resolve();
  const { session } = await eventually(running, { clock });
  expect(
    session.events.find((event) => event.type === 'tool_result' && event.late === true),
  ).toMatchObject({ result: { content: 'hidden' } });
  expect(JSON.stringify(session.events)).not.toContain('a secret');
});

describe('what is asked about a failed model call', () => {
  const failing = { error: new Error('no') };
  const once = (responses: readonly ScriptedResponse[]) => {
    const scripted = scriptedModel(responses);
    return {
      kind: 'model' as const,
      provider: 'scripted',
      modelId: 'once',
      settings: { retry: { attempts: 1 } },
      load: () => scripted,
    };
  };

  test('writes land, in shared scopes too, when a hook answers', async () => {
    const stateSchema = { session: {}, user: { failures: z.number() } };
    const store = memoryStore();
    const app = runtime({ app: 'stops', store, stateSchema });
    const worker = agent({
      name: 'worker',
      model: once([failing]),
      hooks: {
        onModelError: (ctx) => {
          note(ctx, 'failed');
          (ctx.state as unknown as { user: { failures: number } }).user.failures = 1;
          return 'Sorry.';
        },
      },
    });
    const session = await app.sessions.open({ userId: 'ann' });
    const { output } = await app.run(worker, { session, input: 'Go' });
    expect(output).toBe('Sorry.');
    expect(session.state).toMatchObject({ failed: true });
    const stored = await store.for({ tenant: 'default', app: 'stops' }).readShared('user', 'ann');
    expect(stored).toMatchObject({ failures: { value: 1 } });
  });

  test('the decision of a handler that answers in its place is on record', async () => {
    const handler = {
      name: 'kind',
      handle: () => ({ action: 'fallback', result: 'Sorry.' }) as const,
    };
    const { session, output } = await runtime({ app: 'stops' }).run(
      agent({ name: 'worker', model: once([failing]), errorHandlers: [handler] }),
      'Go',
    );
    expect(output).toBe('Sorry.');
    expect(session.events.find((event) => event.type === 'decision')).toMatchObject({
      component: 'error_handler',
      decision: 'fallback',
    });
  });
});

describe('guardrails in front of the model', () => {
  const told = ({ events }: Session) =>
    events.filter((event) => event.type === 'decision' && event.tell !== undefined).length;

  test('tell the same once for a call that is made again', async () => {
    const guarded: Guardrail = {
      name: 'brief',
      modelCall: () => ({ action: 'guide', message: 'Be brief.' }),
    };
    let refused = false;
    const model = scriptedModel((prompt) => {
      if (!prompt.some(({ role }) => role === 'tool')) return calls(1);
      if (refused) return { text: 'done' };
      refused = true;
      return { error: promptTooLong(100, 200) };
    });
    const { session } = await runtime({ app: 'stops' }).run(
      agent({ name: 'worker', model, tools: [look], supervision: { guardrails: [guarded] } }),
      'Go',
    );
    // Once for each of the two answers, however often it took to get the second.
    expect([told(session), model.calls.length]).toEqual([2, 3]);
  });

  test(
    'look at a message once, also when the process stops before the ' + 'model is asked',
    async () => {
      const guarded: Guardrail = {
        name: 'kind',
        input: () => ({ action: 'guide', message: 'Be kind.' }),
      };
      const store = keptOpen(memoryStore());
      const make = () =>
        agent({
          name: 'worker',
          model: scriptedModel([{ text: 'done' }]),
          supervision: { guardrails: [guarded] },
        });
      const first = runtime({ app: 'stops', store, runnables: [make()], recover: 'manual' });
      const session = await first.sessions.open({ id: 's' });
      const running = first.run(make(), { session, input: 'Go' });
      session.ledger.onDraft(({ type }) => {
        if (type === 'decision') running.stop();
      });
      await over(running);
      await running.settled();
      expect(session.events.map(({ type }) => type)).not.toContain('model_end');
      await first.close();
      const app = runtime({ app: 'stops', store, runnables: [make()], recover: 'manual' });
      const result = await app.resume('s');
      expect([result?.output, told(result?.session as Session)]).toEqual(['done', 1]);
      await app.close();
    },
  );
});

test.each<[string, Partial<AgentOptions>]>([
  ['a hook', { hooks: { beforeAgent: () => 'Not today.' } }],
  [
    'a guardrail',
    {
      supervision: {
        guardrails: [{ name: 'closed', input: () => ({ action: 'deny', message: 'Not today.' }) }],
      },
    },
  ],
])(
  'what %s says in the place of an agent is told to the others as its words',
  async (_who, options) => {
    const model = scriptedModel([{ text: 'I see.' }]);
    const runnables = [
      agent({ name: 'desk', model: scriptedModel([]), ...options }),
      agent({ name: 'next', model }),
    ];
    await runtime({ app: 'stops' }).run(sequence({ name: 'both', runnables }), 'Go');
    expect(model.calls[0]?.prompt.at(-1)).toMatchObject({
      role: 'user',
      content: [{ text: '[desk] said: Not today.' }],
    });
  },
);
