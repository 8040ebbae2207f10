import {
  agent,
  type JsonObject,
  memoryStore,
  openai,
  parallel,
  pending,
  runtime,
  type Session,
  type Tool,
  tool,
} from 'adjutant';
import {
  advanceTime,
  approve,
  eventually,
  keptOpen,
  meanwhile,
  model,
  result,
  roundModel,
  runTest,
  type TestStep,
  testClock,
  user,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type PayToolOptions, payTool } from '../../pay-tool.ts';

const minutes = 60_000;
const hours = 60 * minutes;

const caller = (called: Tool) => agent({ name: 'caller', model: openai('gpt-5'), tools: [called] });

/** Begins a script: the agent wants to pay. */
const asked: readonly TestStep[] = [
  user('Go'),
  model({ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }),
];

function settledResults({ events }: Pick<Session, 'events'>): unknown[] {
  return events.flatMap((event) =>
    event.type === 'tool_result' && event.settled ? [event.result] : [],
  );
}

/** Checks that the waiting request was not there before. */
function newRequest(): TestStep {
  return meanwhile(({ session, pending }) => {
    const before = session.events
      .flatMap((event) => (event.type === 'tool_yield' ? [event.requestId] : []))
      .slice(0, -1);
    expect(pending).toHaveLength(1);
    expect(before).not.toContain(pending[0]?.requestId);
    expect(before.length).toBeGreaterThan(0);
  });
}

describe('a request whose time is over', () => {
  test('ends while something else of its run is under way', async () => {
    const { pay, paid } = payTool();
    const slow = tool({
      name: 'slow',
      description: 'Takes its time',
      schema: z.object({}),
      timeoutMs: 10 * hours,
      execute: () => 'never',
    });
    const waits = agent({ name: 'waits', model: openai('gpt-5'), tools: [pay] });
    const works = agent({ name: 'works', model: openai('gpt-5'), tools: [slow] });
    const { status, app } = await runTest(
      parallel({ name: 'both', runnables: [waits, works] }),
      [
        user('Go'),
        model({ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { agent: 'waits' }),
        model({ toolCalls: [{ name: 'slow' }] }, { agent: 'works' }),
        advanceTime(30 * minutes),
        model('Nobody said so.', { agent: 'waits' }),
        meanwhile(({ session }) =>
          expect(settledResults(session)).toMatchObject([
            { status: 'error_blocked', errorType: 'expired' },
          ]),
        ),
        result({ slow: 'ready' }),
        model('Ready.', { agent: 'works' }),
      ],
      { timeoutMs: 10 * hours },
    );
    expect(status).toBe('completed');
    expect(paid).toEqual([]);
    expect(await app.requests.list()).toMatchObject([{ status: 'expired', settledBy: 'runtime' }]);
  });

  test('ends by itself when nobody works on the session', async () => {
    const clock = testClock();
    const { pay } = payTool();
    const answers = roundModel([
      { toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
      { text: 'Done.' },
    ]);
    const runnable = agent({ name: 'caller', model: answers, tools: [pay] });
    const app = runtime({
      app: 'expiry',
      store: memoryStore({ clock }),
      runnables: [runnable],
      ports: { clock },
    });
    const { session } = await app.run(runnable, 'Go');
    expect(session.status).toBe('awaiting_input');
    clock.advance(30 * minutes);
    await eventually(() => session.status === 'completed', { what: 'the end of the run' });
    expect(settledResults(session)).toMatchObject([{ errorType: 'expired' }]);
    await app.close();
  });

  test('goes to others, who may then decide', async () => {
    const { pay, paid } = payTool({
      approval: {
        mayDecide: ['ann'],
        onExpire: 'escalate',
        escalateTo: ['boss'],
        expiresInMs: hours,
      },
    });
    const run = await runTest(caller(pay), [
      ...asked,
      advanceTime(hours),
      newRequest(),
      meanwhile(async ({ app, clock, pending: [escalated] }) => {
        expect(escalated).toMatchObject({
          request: { mayDecide: ['boss'], onExpire: 'reject' },
          expiresAt: clock.now() + hours,
        });
        expect(await app.requests.list()).toMatchObject([
          { status: 'escalated' },
          { status: 'pending', mayDecide: ['boss'] },
        ]);
        await expect(
          app.requests.approve(escalated?.requestId ?? '', { by: 'ann' }),
        ).rejects.toMatchObject({
          code: 'may_not_decide',
        });
      }),
      approve({ by: 'boss' }),
      model('Done.'),
    ]);
    expect(run.status).toBe('completed');
    expect(run).toHaveDecision({ component: 'request', decision: 'escalate' });
    expect(paid).toEqual([{ cents: 5 }]);
  });

  test('ends when those to whom it went do not answer either', async () => {
    const { pay, paid } = payTool({
      approval: { onExpire: 'escalate', escalateTo: ['boss'], expiresInMs: hours },
    });
    const { status, session } = await runTest(caller(pay), [
      ...asked,
      advanceTime(hours),
      newRequest(),
      advanceTime(hours),
      model('Done.'),
    ]);
    expect(status).toBe('completed');
    expect(settledResults(session)).toMatchObject([{ errorType: 'expired' }]);
    expect(paid).toEqual([]);
  });

  test.each([
    ['approve', [{ cents: 5 }]],
    ['reject', []],
  ])('is answered with its default: %s', async (given, expected) => {
    const { pay, paid } = payTool({ approval: { onExpire: { default: given } } });
    const { status } = await runTest(caller(pay), [
      ...asked,
      advanceTime(30 * minutes),
      model('Done.'),
    ]);
    expect(status).toBe('completed');
    expect(paid).toEqual(expected);
  });

  test('gives a tool its default input; one that does not fit ends the call', async () => {
    const asking = (given: object): Tool =>
      tool({
        name: 'ask',
        description: 'Asks',
        schema: z.object({}),
        // A check that takes time cannot be made when the tool is defined.
        yieldSchema: z.object({ colour: z.string().refine(async (it) => it !== 'none') }),
        yieldOptions: { expiresInMs: hours, onExpire: { default: given as never } },
      }) as Tool;
    const steps = [
      user('Go'),
      model({ toolCalls: [{ name: 'ask' }] }),
      advanceTime(hours),
      model('Done.'),
    ];
    const fitting = await runTest(caller(asking({ colour: 'grey' })), steps);
    expect(settledResults(fitting.session)).toMatchObject([
      { status: 'success', content: { colour: 'grey' } },
    ]);
    const unfitting = await runTest(caller(asking({ colour: 'none' })), steps);
    expect(unfitting.status).toBe('completed');
    expect(settledResults(unfitting.session)).toMatchObject([
      { status: 'error_blocked', errorType: 'expired' },
    ]);
  });

  test('has a default input that fits, or the tool cannot be defined', () => {
    const asking = (yieldSchema: JsonObject | z.ZodType) => () =>
      tool({
        name: 'ask',
        description: 'Asks',
        schema: z.object({}),
        yieldSchema,
        yieldOptions: { onExpire: { default: { colour: 'none' } } },
      });
    expect(asking({ required: ['colour'] })).not.toThrow();
    for (const schema of [
      z.object({ colour: z.enum(['red', 'blue']) }),
      { properties: { colour: { enum: ['red', 'blue'] } } },
    ])
      expect(asking(schema as never)).toThrow(
        /the default of `yieldOptions.onExpire` does not fit `yieldSchema`: \$\.colour must be/,
      );
  });

  test('leaves the outcome of an operation open', async () => {
    const begin = tool({
      name: 'begin',
      description: 'Begins',
      schema: z.object({}),
      execute: () => pending({ operationId: 'op-1', expiresInMs: hours }),
    });
    const { status, session } = await runTest(caller(begin as Tool), [
      user('Go'),
      model({ toolCalls: [{ name: 'begin' }] }),
      meanwhile(async ({ app, clock }) => {
        clock.advance(hours);
        await expect(app.requests.settleOperation('op-1', 'late')).rejects.toMatchObject({
          code: 'request_settled',
          data: { status: 'expired' },
        });
      }),
      advanceTime(1),
      model('Done.'),
    ]);
    expect(status).toBe('completed');
    expect(settledResults(session)).toMatchObject([{ status: 'unknown', errorType: 'expired' }]);
  });
});

test('a fork asks anew what the original waits for, also when its time there is over', async () => {
  const clock = testClock();
  const store = keptOpen(memoryStore({ clock }));
  const { pay, paid } = payTool();
  const { app, session, result: first } = await runTest(caller(pay), asked, { store, clock });
  const fork = await app.sessions.fork(session.id);
  clock.advance(hours);
  const waiting = await app.resume(fork);
  const [own] = waiting.pendingApprovals;
  expect(waiting.status).toBe('yielded');
  expect(own?.expiresAt).toBe(clock.now() + 30 * minutes);
  expect(own?.requestId).not.toBe(first.pendingApprovals[0]?.requestId);
  const copied = await runTest(caller(pay), [approve(), model('Done.')], {
    store,
    clock,
    session: { id: fork.id },
  });
  expect(copied.status).toBe('completed');
  expect(paid).toHaveLength(1);
  // The original has its own end.
  const original = await runTest(caller(pay), [model('Done.')], {
    store,
    clock,
    session: { id: session.id },
  });
  expect(original.status).toBe('completed');
  expect(settledResults(original.session)).toMatchObject([{ errorType: 'expired' }]);
  expect(paid).toHaveLength(1);
});

test('an approval default must be a decision', () => {
  expect(() => payTool({ approval: { onExpire: { default: { yes: true } } } })).toThrow(
    /'approve'/,
  );
});

describe('an approval that was not used in time', () => {
  /** The answer lies in the inbox for a while before anybody works on the session again. */
  const usedAfter = (ms: number): TestStep =>
    meanwhile(async ({ app, clock, pending: [request] }) => {
      await app.requests.approve(request?.requestId ?? '');
      clock.advance(ms);
    });

  test('is asked again', async () => {
    const { pay, paid } = payTool({ approval: { expiresInMs: 100 * hours } });
    const run = await runTest(caller(pay), [
      ...asked,
      // The worker slept for three days.
      usedAfter(72 * hours),
      newRequest(),
      meanwhile(({ result: waiting }) => {
        expect(waiting).toMatchObject({
          status: 'yielded',
          pendingApprovals: [{ kind: 'approval' }],
        });
        expect(paid).toEqual([]);
      }),
      usedAfter(23 * hours),
      model('Done.'),
    ]);
    expect(run.status).toBe('completed');
    expect(run).toHaveDecision({ component: 'request', decision: 'ask_again' });
    expect(paid).toEqual([{ cents: 5 }]);
  });

  test('is asked again after the time that the tool says', async () => {
    const { pay, paid } = payTool({ approval: { useWithinMs: 1_000 } });
    const { status } = await runTest(caller(pay), [...asked, usedAfter(1_001), newRequest()]);
    expect(status).toBe('yielded');
    expect(paid).toEqual([]);
  });
});

describe('a tool that has changed', () => {
  const changes: readonly [string, PayToolOptions][] = [
    ['another version', { version: '2' }],
    [
      'another schema',
      { schema: z.object({ cents: z.number(), currency: z.string().default('EUR') }) as never },
    ],
  ];

  /** A run that waits, on a store where a process with the changed tool goes on. */
  async function waiting(change: PayToolOptions) {
    const clock = testClock();
    const store = keptOpen(memoryStore({ clock }));
    const [before, after] = [payTool(), payTool(change)];
    const {
      app,
      session,
      result: first,
    } = await runTest(caller(before.pay), asked, { store, clock });
    const goOn = (...steps: TestStep[]) =>
      runTest(caller(after.pay), steps, { store, clock, session: { id: session.id } });
    return {
      app,
      store,
      goOn,
      before,
      after,
      requestId: first.pendingApprovals[0]?.requestId ?? '',
    };
  }

  test.each(changes)('while it waited (%s): it is asked anew', async (_name, change) => {
    const { store, goOn, before, after, requestId } = await waiting(change);
    const run = await goOn(
      newRequest(),
      meanwhile(async ({ app, pending: [again] }) => {
        const rows = await store.for({ tenant: 'default', app: 'test' }).requests();
        expect(Object.fromEntries(rows.map((row) => [row.requestId, row.status]))).toEqual({
          [requestId]: 'withdrawn',
          [again?.requestId ?? '']: 'pending',
        });
        await expect(app.requests.approve(requestId)).rejects.toMatchObject({
          code: 'request_settled',
        });
      }),
      approve(),
      model('Done.'),
    );
    expect(run.status).toBe('completed');
    expect(run).toHaveDecision({ component: 'request', decision: 'withdraw' });
    expect([before.paid.length, after.paid.length]).toEqual([0, 1]);
  });

  test.each(changes)(
    'after it was approved (%s): it is not run, but asked again',
    async (_name, change) => {
      const { app, goOn, before, after, requestId } = await waiting(change);
      await app.requests.approve(requestId);
      const run = await goOn(
        newRequest(),
        meanwhile(() => expect([...before.paid, ...after.paid]).toEqual([])),
        approve(),
        model('Done.'),
      );
      expect(run.status).toBe('completed');
      expect(run).toHaveDecision({ component: 'request', decision: 'ask_again' });
      expect([before.paid.length, after.paid.length]).toEqual([0, 1]);
    },
  );
});
