import {
  agent,
  agentTool,
  type Event,
  type EventOf,
  type EventType,
  type JsonValue,
  memoryStore,
  run,
  runtime,
  type Store,
  step,
  type Tool,
  ToolFailure,
  tool,
  toolResult,
} from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import {
  eventually,
  keptOpen,
  type ScriptedResponse,
  scriptedModel,
  type TestClock,
  testClock,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { foldEvent } from '../../src/ledger/event.ts';
import { effectFold, noOpenEffects, unresolvedCall } from '../../src/ledger/folds/effect-fold.ts';
import { postAnswer } from '../../src/session/answer.ts';

const quiet = z.object({});
const of = <Type extends EventType>(events: readonly Event[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);
const settled = (events: readonly Event[]) =>
  of(events, 'tool_result').filter((event) => event.settled);

/** Runs an agent that calls a tool once, on the system's clock. */
async function callOnce(work: Tool, tools: readonly Tool[] = [work], args: JsonValue = {}) {
  const model = scriptedModel([{ toolCalls: [{ name: work.name, args }] }, { text: 'done' }]);
  const { session, status } = await run(agent({ name: 'a', model, tools }), 'Go');
  return { session, status, model };
}

/** An agent that calls a tool in its first round, on a clock that stands still. */
async function start(work: Tool, more: readonly ScriptedResponse[] = [{ text: 'done' }]) {
  const clock = testClock();
  const app = runtime({ app: 'effects', ports: { clock } });
  const session = await app.sessions.open();
  const model = scriptedModel([{ toolCalls: [{ name: work.name }] }, ...more]);
  const running = app.run(agent({ name: 'a', model, tools: [work] }), {
    input: 'Go',
    session,
    runId: 'run',
  });
  return { clock, app, session, model, running };
}

type Ctx = Parameters<Tool['execute']>[0];

function work(options: Partial<Tool>): Tool {
  return tool({ name: 'work', description: 'Works', schema: quiet, ...options } as Parameters<
    typeof tool
  >[0]);
}

const http = (status: number) => Object.assign(new Error(`HTTP ${status}`), { status });
const retry = {
  attempts: 3,
  initialDelayMs: 1,
  maxDelayMs: 1,
  multiplier: 1,
  jitter: false,
};

describe('the idempotency key', () => {
  const keysOf = async (...ends: (() => unknown)[]) => {
    const keys: string[] = [];
    const { session } = await callOnce(
      work({
        recovery: 'rerun',
        retry: { ...retry, attempts: ends.length },
        execute: (ctx) => {
          keys.push(ctx.idempotencyKey);
          return ends[ctx.attempt - 1]?.();
        },
      }),
    );
    expect(of(session.events, 'tool_attempt').map(({ key }) => key)).toEqual(keys);
    return keys;
  };
  const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
  const busy = () => Promise.reject(http(429));

  test('stays while the effect of any attempt with it is open', async () => {
    const [first, second, third] = await keysOf(lost, busy, () => 'done');
    expect([second, third]).toEqual([first, first]);
  });

  test('changes after an attempt that had none', async () => {
    const [first, second, third, fourth] = await keysOf(busy, busy, lost, () => 'done');
    expect(new Set([first, second, third]).size).toBe(3);
    expect(fourth).toBe(third);
  });

  test('names the tenant, the app and the session', async () => {
    const keys: string[] = [];
    const noting = work({ execute: (ctx) => void keys.push(ctx.idempotencyKey) });
    for (const [tenant, app, session] of [
      ['t', 'a', 's'],
      ['t', 'a', 'z'],
      ['t', 'b', 's'],
      ['u', 'a', 's'],
    ]) {
      const model = scriptedModel([{ toolCalls: [{ name: 'work' }] }, { text: 'done' }]);
      const made = runtime({ app: app ?? '', tenant: tenant ?? '' });
      await made.run(agent({ name: 'a', model, tools: [noting] }), {
        input: 'Go',
        session: session ?? '',
        runId: 'run',
      });
    }
    expect(new Set(keys).size).toBe(4);
  });
});

describe('what was done does not fail for what came of it', () => {
  const broken: readonly (readonly [string, Partial<Tool>, object])[] = [
    [
      'finalize throws',
      { finalize: () => Promise.reject(http(429)) },
      { status: 'error_permanent', errorType: 'http_429' },
    ],
    [
      'finalize says that it failed',
      { finalize: () => toolResult.transient('later') },
      { status: 'error_transient' },
    ],
    [
      'the result does not fit its schema',
      { outputSchema: z.object({ sent: z.boolean() }) },
      { status: 'error_permanent', errorType: 'validation_error' },
    ],
    [
      'the schema itself throws',
      {
        outputSchema: z.unknown().transform(() => {
          throw new Error('broken');
        }),
      },
      { status: 'error_permanent' },
    ],
  ];

  test.each(broken)(
    'when %s, the call is settled once, and not with no effect',
    async (_what, options, expected) => {
      let executions = 0;
      const { session, model } = await callOnce(
        work({ retry, recovery: 'rerun', ...options, execute: () => ++executions }),
      );
      expect(executions).toBe(1);
      expect(of(session.events, 'tool_attempt')).toHaveLength(1);
      const [result] = of(session.events, 'tool_result');
      expect(result).toMatchObject({ settled: true, result: expected });
      expect(result?.effect).toBeUndefined();
      expect(model.calls).toHaveLength(2);
    },
  );

  test('the model reads that it was done', async () => {
    const said = async (options: (typeof broken)[number][1]) =>
      settled((await callOnce(work({ ...options, execute: () => 1 }))).session.events)[0]?.result;
    expect(
      (await said({ finalize: () => Promise.reject(new Error('no printer')) }))?.content,
    ).toMatch(/has done its work.*no printer/);
    expect((await said({ outputSchema: z.string() }))?.content).toMatch(/ran/);
  });

  test('a finalize that does not end is cut, and the tool is not run again', async () => {
    let executions = 0;
    const { session, running, clock } = await start(
      work({
        retry,
        recovery: 'rerun',
        timeout: 5_000,
        execute: () => ++executions,
        finalize: () => new Promise(() => undefined),
      }),
    );
    await eventually(() => settled(session.events).length === 1, {
      what: 'the result',
      clock,
      stepMs: 500,
    });
    await running;
    expect(executions).toBe(1);
    expect(settled(session.events)[0]).toMatchObject({
      attempt: 1,
      result: { status: 'error_permanent', errorType: 'timeout' },
    });
    expect(settled(session.events)[0]?.effect).toBeUndefined();
  });

  test('what says of itself that it failed may be tried again', async () => {
    let executions = 0;
    await callOnce(
      work({
        retry,
        execute: () => (++executions < 3 ? toolResult.transient('later') : 'done'),
        finalize: () => 'finished',
      }),
    );
    expect(executions).toBe(3);
  });
});

describe('prepare', () => {
  test.each([
    [
      'throws',
      () => Promise.reject(new Error('no such order')),
      { status: 'error_permanent', errorType: 'tool_error', content: 'no such order' },
    ],
    ['is refused by a service', () => Promise.reject(http(404)), { errorType: 'http_404' }],
  ])('that %s refuses the call before any attempt', async (_what, prepare, expected) => {
    let executions = 0;
    const { session } = await callOnce(work({ retry, prepare, execute: () => ++executions }));
    expect(executions).toBe(0);
    expect(of(session.events, 'tool_attempt')).toHaveLength(0);
    expect(of(session.events, 'tool_result')).toMatchObject([
      { attempt: 0, settled: true, effect: 'none', result: expected },
    ]);
  });

  test('runs before the attempt is recorded and knows its number and key', async () => {
    const seen: unknown[] = [];
    const { session } = await callOnce(
      work({
        prepare: (ctx) => {
          seen.push(ctx.attempt, ctx.idempotencyKey, of(ctx.session.events, 'tool_attempt').length);
          ctx.state['prepared'] = true;
          return { n: 1 };
        },
        execute: (ctx) => [
          (ctx.args as { n: number }).n,
          typeof ctx.callId,
          typeof ctx.now(),
          ctx.state['prepared'],
        ],
        finalize: (ctx) => [...(ctx.result as unknown[]), ctx.toolName, Object.isFrozen(ctx.args)],
      }),
    );
    const [attempt] = of(session.events, 'tool_attempt');
    expect(seen).toEqual([1, attempt?.key, 0]);
    expect(settled(session.events)[0]?.result.content).toEqual([
      1,
      'string',
      'number',
      true,
      'work',
      true,
    ]);
    expect(session.state['prepared']).toBe(true);
  });

  test('may not begin children, which nothing would protect', async () => {
    const child = step({ name: 'child', execute: () => undefined });
    const { session } = await callOnce(
      work({
        prepare: async (ctx) => {
          await ctx.call(child);
          return {};
        },
        execute: () => 1,
      }),
    );
    expect(of(session.events, 'invocation_start')).toHaveLength(1);
    expect(settled(session.events)[0]).toMatchObject({
      attempt: 0,
      result: { errorType: 'child_in_prepare' },
    });
  });

  test('that does not end is cut like a tool', async () => {
    let executions = 0;
    const { session, running, clock } = await start(
      work({
        timeout: 5_000,
        prepare: () => new Promise(() => undefined),
        execute: () => ++executions,
      }),
    );
    await eventually(() => settled(session.events).length === 1, {
      what: 'the result',
      clock,
      stepMs: 500,
    });
    await running;
    expect(executions).toBe(0);
    expect(settled(session.events)[0]).toMatchObject({
      attempt: 0,
      effect: 'none',
      result: { status: 'timeout' },
    });
  });
});

describe('after its end', () => {
  const child = step({ name: 'child', execute: () => undefined });
  const uses: readonly (readonly [string, (ctx: Ctx) => unknown])[] = [
    ['call', (ctx) => ctx.call(child)],
    ['spawn', (ctx) => ctx.spawn(child)],
    ['dispatch', (ctx) => ctx.dispatch(child)],
    ['now', (ctx) => ctx.now()],
    ['id', (ctx) => ctx.id('x')],
    ['random', (ctx) => ctx.random('x')],
    ['progress', (ctx) => ctx.progress(1)],
    ['a write', (ctx) => Object.assign(ctx.state, { late: true })],
    ['a deletion', (ctx) => delete ctx.state['early']],
    ['an update', (ctx) => ctx.state.update({ late: true })],
  ];

  async function outcomeOf(use: (ctx: Ctx) => unknown, ctx: Ctx): Promise<string> {
    try {
      await use(ctx);
      return 'accepted';
    } catch (error) {
      return (error as { code?: string }).code ?? 'failed otherwise';
    }
  }

  /** What each use says, in order. */
  async function useAll(ctx: Ctx): Promise<readonly string[]> {
    const said: string[] = [];
    for (const [name, use] of uses) {
      said.push(`${name}: ${await outcomeOf(use, ctx)}`);
    }
    expect(ctx.state['early']).toBe(1);
    return said;
  }
  const refused = uses.map(([name]) => `${name}: invocation_ended`);
  const noting = (notes: Ctx[], wait?: Promise<void>) =>
    work({
      execute: (ctx: Ctx) => {
        notes.push(ctx);
        ctx.state['early'] = 1;
        return wait;
      },
    });

  test('the context of a tool that ended refuses all that would be recorded', async () => {
    const contexts: Ctx[] = [];
    const { session } = await callOnce(noting(contexts));
    const events = session.events.length;
    expect(await useAll(contexts[0] as Ctx)).toEqual(refused);
    expect(session.events).toHaveLength(events);
    expect(session.state['late']).toBeUndefined();
  });

  test('the context of a step does too', async () => {
    const contexts: Ctx[] = [];
    const { session } = await run(
      step({
        name: 's',
        execute: (ctx) => {
          ctx.state['early'] = 1;
          contexts.push(ctx as never);
        },
      }),
    );
    const events = session.events.length;
    const said = await useAll(contexts[0] as Ctx);
    expect(said.filter((word) => !word.startsWith('progress'))).toEqual(
      refused.filter((word) => !word.startsWith('progress')),
    );
    expect(session.events).toHaveLength(events);
  });

  test(
    'so does that of a tool that took no notice of a stop: nothing is claimed or recorded ' +
      'any more',
    async () => {
      const contexts: Ctx[] = [];
      const { session, running, clock } = await start(
        work({
          execute: (ctx: Ctx) => {
            contexts.push(ctx);
            ctx.state['early'] = 1;
            return new Promise(() => undefined);
          },
        }),
      );
      await eventually(() => contexts.length === 1, { what: 'the tool' });
      running.stop();
      let failure: unknown;
      running.then(undefined, (error: unknown) => {
        failure = error;
      });
      await eventually(() => failure !== undefined, { what: 'the end', clock, stepMs: 500 });
      expect(failure).toMatchObject({ code: 'run_stopped' });
      const events = session.events.length;
      expect((contexts[0] as Ctx).signal.aborted).toBe(true);
      for (const [name, use] of uses)
        expect([name, await outcomeOf(use, contexts[0] as Ctx)]).toEqual([
          name,
          'invocation_ended',
        ]);
      expect(session.events).toHaveLength(events);
      expect(session.ledger.claim).toBeUndefined();
    },
  );
});

describe('the lease, right before a tool runs', () => {
  /**
   * A run whose process is suspended for a minute between the attempt and the tool; `meanwhile` is
   * what others do with its session.
   */
  async function suspended(
    recovery: 'report' | 'rerun',
    meanwhile: (ledgers: LedgerStore) => Promise<unknown>,
  ) {
    const clock = testClock();
    let missed = 0;
    const store = memoryStore({ clock });
    const app = runtime({
      app: 'effects',
      store,
      ports: { clock: { ...clock, monotonic: () => clock.monotonic() + missed } },
    });
    const session = await app.sessions.open({ id: 's' });
    let executions = 0;
    const model = scriptedModel([{ toolCalls: [{ name: 'work' }] }, { text: 'done' }]);
    const ledgers = store.for({ tenant: 'default', app: 'effects' });
    const suspend = (event: Event): void => {
      if (event.type !== 'tool_attempt') return;
      missed = 60_000;
      void meanwhile(ledgers);
    };
    if (recovery === 'rerun') session.ledger.onDraft(suspend);
    else session.ledger.onDurable((events) => events.forEach(suspend));
    const running = app.run(
      agent({
        name: 'a',
        model,
        tools: [work({ timeout: 600_000, recovery, execute: () => ++executions })],
      }),
      {
        input: 'Go',
        session,
      },
    );
    const outcome = await Promise.resolve(running).then(
      ({ status }) => status as string,
      (error: { code?: string }) => error.code,
    );
    const recorded: Event[] = [];
    for await (const page of ledgers.read('s')) recorded.push(...page);
    return { outcome, executions, results: of(recorded, 'tool_result') };
  }

  test.each(['report', 'rerun'] as const)(
    'when it is over and another owner has the session, a tool that may be %s is not run',
    async (recovery) => {
      const taken = await suspended(recovery, (ledgers) =>
        ledgers.claim('s', 'another', { ttl: 30_000, force: true }),
      );
      expect(taken).toEqual({ outcome: 'ledger_conflict', executions: 0, results: [] });
    },
  );

  test.each(['report', 'rerun'] as const)(
    'when it is over and nobody has taken the session, it is renewed (%s)',
    async (recovery) => {
      const kept = await suspended(recovery, async () => undefined);
      expect(kept).toMatchObject({
        outcome: 'completed',
        executions: 1,
        results: [{ result: { status: 'success' } }],
      });
    },
  );
});

describe('a tool that its process does not survive', () => {
  /**
   * Ends the process of a run as often as its tool has begun, and continues the run in another one.
   */
  async function interruptedEachTime(recovery: 'report' | 'rerun') {
    const store = memoryStore();
    const keep = keptOpen(store);
    let executions = 0;
    for (let process = 1; process <= 10; process++) {
      const begun = Promise.withResolvers<void>();
      const deadly = work({
        recovery,
        execute: () => {
          executions++;
          begun.resolve();
          return new Promise(() => undefined);
        },
      });
      const model = scriptedModel(
        executions === 0 ? [{ toolCalls: [{ name: 'work' }] }] : [{ text: 'done' }],
      );
      const runnable = agent({ name: 'a', model, tools: [deadly] });
      const clock = testClock(Date.UTC(2026, 0, process));
      const app = runtime({
        app: 'effects',
        store: keep,
        runnables: [runnable],
        recover: 'manual',
        ports: { clock },
      });
      const running =
        process === 1
          ? app.run(runnable, { input: 'Go', session: 's', runId: 'run' })
          : app.resume('s');
      const ended = Promise.resolve(running).then(
        (result) => result,
        () => undefined,
      );
      const first = await Promise.race([begun.promise, ended]);
      if (first !== undefined)
        return { executions, events: first.session.events, status: first.status };
      running.stop();
      let over = false;
      void ended.then(() => {
        over = true;
      });
      await eventually(() => over, { what: 'the stop', clock, stepMs: 500 });
      await app.close();
    }
    throw new Error('The tool was run ten times.');
  }

  test('is run three times, and then its outcome is unknown', async () => {
    const { executions, events, status } = await interruptedEachTime('rerun');
    expect({ executions, status }).toEqual({ executions: 3, status: 'completed' });
    expect(new Set(of(events, 'tool_attempt').map(({ key }) => key)).size).toBe(1);
    expect(settled(events)).toMatchObject([
      { attempt: 3, effect: 'unknown', result: { status: 'unknown', errorType: 'interrupted' } },
    ]);
  });

  test('is run once when it reports', async () => {
    const { executions, events, status } = await interruptedEachTime('report');
    expect({ executions, status }).toEqual({ executions: 1, status: 'completed' });
    expect(settled(events)).toMatchObject([
      { attempt: 1, effect: 'unknown', result: { status: 'unknown' } },
    ]);
  });
});

describe('a call that repeats one whose outcome is not known (A5)', () => {
  const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ECONNRESET' }));

  /**
   * Calls a tool with these arguments in one round after the other; its executions end one after
   * the other as `ends` says.
   */
  async function calls(
    options: Partial<Tool>,
    args: readonly JsonValue[],
    ends: readonly (() => unknown)[],
  ) {
    const executed: { key: string; args: unknown }[] = [];
    const pay = work({
      schema: z.object({ cents: z.int() }),
      ...options,
      execute: (ctx) => {
        executed.push({ key: ctx.idempotencyKey, args: ctx.args });
        return ends[executed.length - 1]?.();
      },
    });
    const model = scriptedModel([
      ...args.map((given) => ({ toolCalls: [{ name: 'work', args: given }] })),
      { text: 'done' },
    ]);
    // Equal calls are what it is about: nobody is to take them for a loop.
    const { session } = await run(
      agent({ name: 'a', model, tools: [pay], supervision: false }),
      'Go',
    );
    return { executed, results: settled(session.events), keys: executed.map(({ key }) => key) };
  }
  const same = [{ cents: 1 }, { cents: 1 }];

  test('has its key', async () => {
    const { keys, results } = await calls({}, same, [lost, () => 'paid']);
    expect(keys[1]).toBe(keys[0]);
    expect(results.map(({ result }) => result.status)).toEqual(['unknown', 'success']);
  });

  test.each<[string, Partial<Tool>]>([
    ['reports by its own word', { recovery: 'report' }],
    ['asks by its own word', { recovery: 'ask' }],
    ['may destroy something', { destructive: true }],
    ['asks about repetitions', { onRepeat: 'confirm' }],
  ])(
    'waits for leave when the tool %s, and is run under the same key with it',
    async (_what, options) => {
      const executed: string[] = [];
      const pay = work({
        schema: z.object({ cents: z.int() }),
        ...options,
        execute: (ctx) => {
          executed.push(ctx.idempotencyKey);
          return executed.length === 1 ? lost() : 'paid';
        },
      });
      const model = scriptedModel([
        ...same.map((args) => ({ toolCalls: [{ name: 'work', args }] })),
        { text: 'done' },
      ]);
      const runnable = agent({ name: 'a', model, tools: [pay] });
      let { session, pendingCalls, status } = await run(runnable, 'Go');
      if (pendingCalls[0]?.kind === 'recovery') {
        await postAnswer(session.ledger, pendingCalls[0].requestId, {
          decision: 'report',
          by: 'user',
        });
        ({ session, pendingCalls, status } = await run(runnable, { session }));
      }
      expect(status).toBe('yielded');
      expect(executed).toHaveLength(1);
      expect(pendingCalls).toMatchObject([
        {
          kind: 'repeat',
          request: { details: { earlierCall: settled(session.events)[0]?.callId } },
        },
      ]);
      await postAnswer(session.ledger, pendingCalls[0]?.requestId ?? '', {
        decision: 'approve',
        by: 'user',
      });
      expect(await run(runnable, { session })).toMatchObject({ status: 'completed' });
      expect(executed).toEqual([executed[0], executed[0]]);
    },
  );

  test('is refused when the tool refuses repetitions, and the model is told to check', async () => {
    const { executed, results } = await calls({ onRepeat: 'refuse' }, same, [lost]);
    expect(executed).toHaveLength(1);
    expect(results[1]).toMatchObject({
      attempt: 0,
      result: { status: 'error_blocked', errorType: 'unknown_unresolved' },
    });
    expect(results[1]?.result.content).toContain(results[0]?.callId);
  });

  test('is run when the tool says so', async () => {
    const { executed } = await calls({ recovery: 'report', onRepeat: 'allow' }, same, [
      lost,
      () => 'paid',
    ]);
    expect(executed).toHaveLength(2);
  });

  test('is one whose prepared arguments are the same', async () => {
    const prepare: Tool['prepare'] = ({ args }) => ({
      cents: Math.abs((args as { cents: number }).cents),
    });
    const { executed } = await calls(
      { onRepeat: 'refuse', prepare },
      [{ cents: 1 }, { cents: -1 }, { cents: 2 }],
      [lost],
    );
    expect(executed.map(({ args }) => args)).toEqual([{ cents: 1 }, { cents: 2 }]);
  });

  test(
    'is not one after another end than an unknown one, or after a repetition that ' + 'succeeded',
    async () => {
      const failed = () => Promise.reject(http(400));
      const { keys } = await calls(
        {},
        [...same, ...same],
        [failed, lost, () => 'paid', () => 'paid again'],
      );
      expect(keys[1]).not.toBe(keys[0]);
      expect(keys[2]).toBe(keys[1]);
      expect(keys[3]).not.toBe(keys[2]);
    },
  );

  test('keeps the key when the repetition is known to have done nothing', async () => {
    const { keys } = await calls(
      {},
      [...same, { cents: 1 }],
      [lost, () => Promise.reject(http(400)), () => 'paid'],
    );
    expect(new Set(keys).size).toBe(1);
  });

  test('is not one when a late result has told the outcome', () => {
    const base = { v: 1, id: 'e', at: 1, by: 'runtime', invocationId: 'run' } as const;
    const attempt = {
      ...base,
      type: 'tool_attempt',
      callId: 'run/r1.0',
      attempt: 1,
      key: 'k',
      epoch: 1,
      fingerprint: 'f',
    };
    const ended = {
      ...base,
      type: 'tool_result',
      callId: 'run/r1.0',
      attempt: 1,
      durationMs: 1,
      effect: 'unknown',
      settled: true,
    };
    const late = { ...ended, settled: false, late: true };
    const { effect: _effect, ...lateSuccess } = late;
    const unresolvedAfter = (...events: object[]) =>
      unresolvedCall(effectsOf(events), 'f', 'run/r2.0');
    expect(unresolvedAfter(attempt, ended)).toMatchObject({ callId: 'run/r1.0', key: 'k' });
    expect(unresolvedAfter(attempt)).toBeUndefined();
    expect(unresolvedAfter(attempt, ended, late)).toMatchObject({ callId: 'run/r1.0', key: 'k' });
    expect(unresolvedAfter(attempt, ended, lateSuccess)).toBeUndefined();
    expect(unresolvedAfter(attempt, ended, { ...late, effect: 'none' })).toBeUndefined();
    expect(unresolvedCall(effectsOf([attempt, ended]), 'f', 'run/r1.0')).toBeUndefined();
    expect(unresolvedCall(effectsOf([attempt, ended]), 'g', 'run/r2.0')).toBeUndefined();
  });
});

describe('the deadline', () => {
  /**
   * A run of a tool that has 20 seconds, up to its attempt, which is durable only when `written` is
   * called.
   */
  async function beingWrittenDown(slow: (clock: TestClock) => Tool) {
    const clock = testClock();
    const writing = Promise.withResolvers<void>();
    const inner = memoryStore({ clock });
    const store: Store = {
      ...inner,
      for: (scope) => {
        const ledgers = inner.for(scope);
        const append: LedgerStore['append'] = async (session, expected, batch) => {
          if (batch.events.some(({ type }) => type === 'tool_attempt')) await writing.promise;
          return ledgers.append(session, expected, batch);
        };
        return new Proxy(ledgers, {
          get: (target, key) => {
            const member: unknown = key === 'append' ? append : Reflect.get(target, key);
            return typeof member === 'function' ? member.bind(target) : member;
          },
        });
      },
    };
    const app = runtime({ app: 'effects', store, ports: { clock } });
    const session = await app.sessions.open();
    const model = scriptedModel([{ toolCalls: [{ name: 'work' }] }, { text: 'done' }]);
    // One attempt is what it is about: supervision would make another one.
    const running = app.run(agent({ name: 'a', model, tools: [slow(clock)], supervision: false }), {
      input: 'Go',
      session,
    });
    await eventually(() => of(session.events, 'tool_attempt').length === 1, {
      what: 'the attempt',
    });
    return { clock, session, running, written: writing.resolve };
  }

  test(
    'is the moment at which the tool is told to stop, however long the attempt took to be ' +
      'written down',
    async () => {
      let stoppedAt: number | undefined;
      let begun = false;
      const slow = (clock: TestClock) =>
        work({
          timeout: 20_000,
          execute: (ctx) => {
            begun = true;
            return new Promise((resolve) =>
              ctx.signal.addEventListener('abort', () => {
                stoppedAt = clock.now();
                resolve('stopped');
              }),
            );
          },
        });
      const { clock, session, running, written } = await beingWrittenDown(slow);
      clock.advance(5_000);
      written();
      await eventually(() => begun, { what: 'the tool' });
      clock.advance(15_000);
      await running;
      expect(stoppedAt).toBe(of(session.events, 'tool_attempt')[0]?.deadline);
    },
  );

  test('that is over before the tool could begin leaves it alone', async () => {
    let executions = 0;
    const { clock, session, running, written } = await beingWrittenDown(() =>
      work({ timeout: 20_000, execute: () => ++executions }),
    );
    clock.advance(20_000);
    written();
    await running;
    expect(executions).toBe(0);
    expect(settled(session.events)).toMatchObject([
      { attempt: 1, effect: 'none', result: { status: 'timeout' } },
    ]);
  });

  const child = step({ name: 'child', execute: () => undefined });

  test('of a tool made of a runnable is two minutes from the start', async () => {
    const { session } = await callOnce(
      agentTool(child, { name: 'work' }),
      [agentTool(child, { name: 'work' })],
      { message: 'Go' },
    );
    const [attempt] = of(session.events, 'tool_attempt');
    expect((attempt?.deadline ?? 0) - (attempt?.at ?? 0)).toBeGreaterThanOrEqual(119_000);
  });

  test(
    'moves when a tool without a timeout of its own calls a runnable, and the ' + 'context says so',
    async () => {
      const seen: number[] = [];
      const { session } = await callOnce(
        work({
          execute: async (ctx) => {
            seen.push(ctx.deadline ?? 0);
            await ctx.call(child);
            seen.push(ctx.deadline ?? 0);
          },
        }),
      );
      const recorded = of(session.events, 'tool_attempt')[0]?.deadline ?? 0;
      expect(seen).toEqual([recorded, recorded + 90_000]);
    },
  );
});

test('a tool that failed by itself is classified by what it threw', async () => {
  const failing = work({
    execute: () => Promise.reject(new ToolFailure('full', { errorType: 'fully_booked' })),
  });
  expect(settled((await callOnce(failing)).session.events)[0]).toMatchObject({
    attempt: 1,
    effect: 'none',
    result: { errorType: 'fully_booked' },
  });
});

function effectsOf(events: readonly object[]) {
  return (events as Event[]).reduce(
    (effects, event) => foldEvent(effectFold, effects, event),
    noOpenEffects(),
  );
}
