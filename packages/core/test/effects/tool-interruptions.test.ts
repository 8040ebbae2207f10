import {
  agent,
  agentTool,
  type Event,
  memoryStore,
  runtime,
  type Store,
  step,
  type Tool,
} from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import {
  eventually,
  keptOpen,
  roundModel,
  scriptedModel,
  type TestClock,
  testClock,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { of } from './events-of.ts';
import { callOnce, settled, work } from './one-call.ts';

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
        tools: [work({ timeoutMs: 600_000, recovery, execute: () => ++executions })],
      }),
      {
        input: 'Go',
        session,
      },
    );
    // A run that was taken over is followed.
    session.ledger.onFailure(() => running.stop());
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
        ledgers.claim('s', 'another', { ttlMs: 30_000, force: true }),
      );
      expect(taken).toMatchObject({ executions: 0, results: [] });
      // Nothing can be followed when the run itself had not landed.
      expect(taken.outcome).toBe(recovery === 'report' ? 'run_stopped' : 'ledger_conflict');
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
          timeoutMs: 20_000,
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
      work({ timeoutMs: 20_000, execute: () => ++executions }),
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

test('an attempt of a stopped process that nobody knows of is told as unknown once', async () => {
  const pay = work({ recovery: () => ({ happened: 'unknown' }), execute: () => 'paid' });
  const boss = agent({
    name: 'boss',
    model: roundModel([{ toolCalls: [{ name: 'work' }] }, { text: 'Done.' }]),
    tools: [pay],
  });
  const app = runtime({ app: 'effects', recover: 'manual', runnables: [boss] });
  const { session } = await app.run(boss, 'Go');
  const begun = session.events.findIndex(({ type }) => type === 'tool_attempt') + 1;
  await app.sessions.restore({ app: 'effects', id: 'c', events: session.events.slice(0, begun) });
  const { session: copy } = await app.resume('c');
  const content = String(of(copy.events, 'tool_result')[0]?.result.content);
  expect(content.match(/It is not known/g)).toHaveLength(1);
  expect(content).toMatch(/took effect: the process stopped while the tool was running\. It/);
  await app.close();
});
