import { agent, type Event, type JsonValue, run, runtime, type Tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { foldEvent } from '../../src/ledger/event.ts';
import { effectFold, noOpenEffects, unresolvedCall } from '../../src/ledger/folds/effect-fold.ts';
import { postAnswer } from '../../src/session/answer.ts';
import { of } from './events-of.ts';
import { callOnce, http, retry, settled, work } from './one-call.ts';

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

describe('a call that repeats one whose outcome is not known', () => {
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

function effectsOf(events: readonly object[]) {
  return (events as Event[]).reduce(
    (effects, event) => foldEvent(effectFold, effects, event),
    noOpenEffects(),
  );
}
