import { agent, memoryStore, type Store, sequence, step, tool } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import {
  type CrashPointsError,
  crashCases,
  crashPoints,
  type MakeScenario,
  roundModel,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { storePlaces } from '../../../../test/store-places.ts';

const schema = z.object({ n: z.number() });
const pay = { toolCalls: [{ name: 'pay', args: { n: 1 } }] };

function payer(
  recovery: 'report' | 'rerun',
  execute: (n: number) => unknown = (n) => ({ paid: n }),
) {
  return agent({
    name: 'payer',
    model: roundModel([pay, { text: 'paid' }]),
    tools: [
      tool({
        name: 'pay',
        description: 'Pays',
        schema,
        recovery,
        execute: ({ args }) => execute(args.n) as never,
      }),
    ],
    output: 'answer',
  });
}

/** Returns the error that a promise rejects with. */
async function failureOf(promise: Promise<unknown>): Promise<CrashPointsError> {
  return promise.then(
    () => expect.unreachable('it found nothing'),
    (error: unknown) => error as CrashPointsError,
  );
}

/** A store with another `append`. */
function withAppend(
  store: Store,
  append: (
    ledgers: LedgerStore,
    ...args: Parameters<LedgerStore['append']>
  ) => ReturnType<LedgerStore['append']>,
): Store {
  const wrap = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        if (name === 'append')
          return (...args: Parameters<LedgerStore['append']>) => append(target, ...args);
        return (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target);
      },
    });
  return {
    description: store.description,
    admin: store.admin,
    for: (scope) => wrap(store.for(scope)),
    close: () => store.close(),
  };
}

describe.each(storePlaces)('on %s', (_name, makePlace) => {
  test('an agent that is stopped at every append comes to the same end', async () => {
    const place = await makePlace();
    const store = place.open();
    const { points, whole } = await crashPoints(() => ({ runnable: payer('rerun') }), {
      store,
      atOnce: 2,
    });
    expect(points).toBeGreaterThan(8);
    expect(whole.outcome).toMatchObject({
      result: { status: 'completed', output: 'paid' },
      state: { session: { answer: 'paid' } },
    });
    expect(whole.executions).toMatchObject([{ callId: 'run/r1.0', attempt: 1, recovery: 'rerun' }]);
    await store.close();
    await place.remove();
  });
});

test('events that gather make few places, events that are sent at once many', async () => {
  const count = async (appends: 'separate' | 'batched') =>
    (
      await crashPoints(() => ({ runnable: payer('rerun') }), {
        appends,
        manners: ['before', 'after'],
      })
    ).points;
  expect(await count('separate')).toBeGreaterThan((await count('batched')) + 4);
});

test('one store can be used again, and stays open', async () => {
  const store = memoryStore();
  const first = await crashPoints(() => ({ runnable: payer('rerun') }), { store });
  const second = await crashPoints(() => ({ runnable: payer('rerun') }), { store });
  expect(second.points).toBe(first.points);
  expect(await store.for({ tenant: 'default', app: 'crash-points' }).list()).toEqual([]);
});

test('questions are answered by the name of the tool, and loops get messages', async () => {
  const make: MakeScenario = () => ({
    runnable: agent({
      name: 'payer',
      model: roundModel([pay, { text: 'paid' }]),
      tools: [
        tool({
          name: 'pay',
          description: 'Pays',
          schema,
          recovery: 'rerun',
          approval: { expiresInMs: 7 * 86_400_000 },
          execute: ({ args }) => args.n,
        }),
      ],
    }),
    answers: { pay: { decision: 'approve' } },
  });
  const { whole } = await crashPoints(make);
  expect(whole.events.map(({ type }) => type)).toContain('tool_input');
});

describe('finds', () => {
  test('a scenario whose runs differ without a stop, before it looks for places', async () => {
    let outside = 0;
    const drifting: MakeScenario = () => {
      const seen = ++outside;
      return { runnable: step({ name: 'counter', execute: (ctx) => ctx.complete(seen) }) };
    };
    const failure = await failureOf(crashPoints(drifting));
    expect(failure).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('of two runs without a stop the second differs'),
    });
  });

  test(
    'a body whose writes depend on how often it was begun, with the place and ' + 'both values',
    async () => {
      const make: MakeScenario = () => ({
        runnable: step({
          name: 'body',
          execute: async (ctx) => {
            // The session's own events are the same in each run, but the number of starts of the
            // body is not.
            const resumes = ctx.session.events.some(
              ({ invocationId }) => invocationId === 'run/child',
            )
              ? 1
              : 0;
            await ctx.call(step({ name: 'child', execute: () => undefined }));
            ctx.state['begun'] = 1 + resumes;
          },
        }),
      });
      const failure = await failureOf(crashPoints(make));
      expect(failure.code).toBe('crash_points_failed');
      expect(failure.message).toMatch(/^\d+ of \d+ crash points failed\.\n\n1\. /);
      expect(failure.message).toMatch(
        /stopped before append \d+ \(4 invocation_end run\/child\): /,
      );
      expect(failure.message).toContain(
        'its state is another one.\n  session.begun\n    without a stop: 1\n    continued:      2',
      );
      expect(failure.cause).toMatchObject({
        code: 'crash_point_failed',
        data: { what: 'its state is another one' },
      });
    },
  );

  test('names taken from the order of arrival', async () => {
    let turn = 0;
    const make: MakeScenario = () => ({
      runnable: step({
        name: 'fan',
        execute: async (ctx) => {
          const offset = ctx.session.events.some(({ invocationId }) =>
            invocationId?.startsWith('run/'),
          )
            ? ++turn
            : 0;
          const worker = step({
            name: 'worker',
            execute: (child) => child.complete(child.input?.message ?? ''),
          });
          const outputs: unknown[] = [];
          for (const item of [0, 1])
            outputs.push(
              (await ctx.call(worker, { message: `${item + offset}`, key: `place-${item}` }))
                .output,
            );
          return ctx.complete(outputs as string[]);
        },
      }),
    });
    expect((await failureOf(crashPoints(make))).message).toMatch(
      /ledger_mismatch|its result is another one|LedgerMismatchError/,
    );
  });

  test('a store that confirms what it has not kept: the tool that reports runs twice', async () => {
    const forgetful = (): Store =>
      withAppend(memoryStore(), (ledgers, session, expected, batch) => {
        const isLost = batch.events.some(({ type }) => type === 'tool_attempt');
        if (!isLost) return ledgers.append(session, expected, batch);
        // It waits in memory for the next append, as in a write cache that lies about its flush.
        waiting.set(ledgers, batch.events);
        return Promise.resolve({
          seq: expected.seq + batch.events.length,
          epoch: expected.epoch,
          inboxSeq: 0,
          now: Date.now(),
        });
      });
    const waiting = new WeakMap<LedgerStore, unknown>();
    const failure = await failureOf(
      crashPoints(() => ({ runnable: payer('report'), compares: 'end' }), { store: forgetful }),
    );
    expect(failure.code).toBe('crash_points_failed');
  });

  test('a store that loses events of a batch, and one that hangs', async () => {
    const shortening = () =>
      withAppend(memoryStore(), (ledgers, session, expected, batch) =>
        ledgers.append(session, expected, {
          ...batch,
          events: batch.events.filter(({ type }) => type !== 'assistant'),
        }),
      );
    expect(
      (
        await failureOf(
          crashPoints(() => ({ runnable: payer('rerun') }), {
            store: shortening,
            timeoutMs: 2_000,
          }),
        )
      ).code,
    ).toBe('crash_points_failed');
    const hanging = () => withAppend(memoryStore(), () => new Promise(() => undefined));
    const failure = await failureOf(
      crashPoints(() => ({ runnable: payer('rerun') }), {
        store: hanging,
        timeoutMs: 20,
        every: 50,
      }),
    );
    expect(failure.message).toContain('has not ended after 0.02 seconds');
  });
});

describe('refuses', () => {
  const runnable = step({ name: 'nothing', execute: () => undefined });
  const asking = agent({
    name: 'asker',
    model: roundModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'asked' }]),
    tools: [
      tool({
        name: 'ask',
        description: 'Asks',
        schema: z.object({}),
        yieldSchema: z.object({ answer: z.string() }),
      }),
    ],
  });
  test.each<[string, () => Promise<unknown>, string]>([
    [
      'definitions that are shared',
      () => crashPoints({ runnable } as never),
      'must be a function that gives it, so that each process has its own',
    ],
    ['a promise', () => crashPoints((async () => ({ runnable })) as never), 'and not as a promise'],
    ['nothing to run', () => crashPoints(() => ({}) as never), '`runnable` is missing'],
    [
      'what is no runnable',
      () => crashPoints(() => ({ runnable: 'x' }) as never),
      '`runnable` must be an agent, step',
    ],
    [
      'unknown members',
      () => crashPoints(() => ({ runnable, answer: {} }) as never),
      'did you mean `answers`?',
    ],
    [
      'a store of its own',
      () => crashPoints(() => ({ runnable, app: { store: memoryStore() } }) as never),
      'an object without `store`',
    ],
    [
      'a session of its own',
      () => crashPoints(() => ({ runnable, session: { id: 's' } }) as never),
      'an object without `id`',
    ],
    [
      'unknown options',
      () => crashPoints(() => ({ runnable }), { stores: 1 } as never),
      'did you mean `store`?',
    ],
    [
      'unknown manners',
      () => crashPoints(() => ({ runnable }), { manners: ['softly'] } as never),
      "a list of 'before'",
    ],
    [
      'no manners',
      () => crashPoints(() => ({ runnable }), { manners: [] }),
      '`manners` must be a list that has at least one',
    ],
    [
      'places that are no number',
      () => crashPoints(() => ({ runnable }), { every: 0 }),
      '`every` must be a whole number from 1',
    ],
    [
      'a question without an answer',
      () => crashPoints(() => ({ runnable: asking })),
      'the run waits for an answer to "ask" (input): give it with `answers`',
    ],
  ])('%s', async (_what, run, message) => {
    const failure = await failureOf(run());
    expect(failure).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(message),
    });
  });
});

test('each place can be a test of its own', async () => {
  const names: string[] = [];
  const make: MakeScenario = () => ({
    runnable: sequence({
      name: 'both',
      runnables: [
        step({ name: 'one', execute: () => undefined }),
        step({ name: 'two', execute: () => undefined }),
      ],
    }),
  });
  for await (const { name, run } of crashCases(make, {
    name: 'steps',
    openStore: () => memoryStore(),
    manners: ['before', 'twice'],
    every: 1,
  })) {
    if (await run()) names.push(name);
  }
  expect(names[0]).toBe('steps: stopped before append 1');
  expect(names.at(-1)).toMatch(/^steps: stopped twice, first after append \d+$/);
});
