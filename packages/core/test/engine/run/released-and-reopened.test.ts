import { agent, memoryStore, parallel, runtime, sequence, step, tool } from 'adjutant';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { asker, hooked, nothing, scope, turns } from './hooked-store.ts';

describe('a run that waits is given back', () => {
  test('also when a tool begins to wait for a spawned child that waits already', async () => {
    const child = asker('child');
    const app = runtime({ app: 'attacks', runnables: [child] });
    const session = await app.sessions.open();
    const work = tool({
      name: 'work',
      description: 'Begins a child and waits for it later',
      schema: nothing,
      execute: async (ctx) => {
        const handle = ctx.spawn(child, { message: 'Hi' });
        await eventually(() => session.events.some(({ type }) => type === 'tool_yield'), {
          what: 'the question',
        });
        await turns();
        return (await handle.wait()).output as string;
      },
    });
    const top = agent({
      name: 'top',
      model: scriptedModel([{ toolCalls: [{ name: 'work', args: {} }] }, { text: 'end' }]),
      tools: [work],
    });
    const result = await app.run(top, { session, input: 'Go' });
    expect(result).toMatchObject({ status: 'yielded', pendingCalls: [{ name: 'ask' }] });
  });

  test('but not when a branch beside what waits has failed and is about to stop it', async () => {
    // The failure takes its time to become durable.
    const store = hooked(memoryStore(), {
      before: (method, args) =>
        method === 'append' && JSON.stringify(args).includes('step_failed') ? turns() : undefined,
    });
    const app = runtime({ app: 'attacks', store, recover: 'manual' });
    const session = await app.sessions.open();
    const failing = step({
      name: 'failing',
      execute: async (ctx) => {
        await eventually(() => session.events.some(({ type }) => type === 'tool_yield'), {
          what: 'the question',
        });
        await turns();
        return ctx.fail('No.');
      },
    });
    const both = parallel({
      name: 'both',
      runnables: [asker(), failing],
      failFast: true,
      minSuccessful: 2,
    });
    expect(await app.run(both, { session, input: 'Go' })).toMatchObject({
      status: 'error',
      error: { code: 'too_few_branches' },
    });
    expect(await store.for(scope).requests({ status: 'pending' })).toEqual([]);
  });
});

test('what is posted while the inbox is being read is read the next time', async () => {
  const inner = memoryStore();
  const { promise: isRead, resolve: readOn } = Promise.withResolvers<void>();
  let isReading = false;
  let holds = false;
  const store = hooked(inner, {
    after: async (method) => {
      if (method !== 'inbox' || !holds) return;
      holds = false;
      isReading = true;
      await isRead;
    },
  });
  const app = runtime({ app: 'attacks', store, recover: 'manual' });
  const session = await app.sessions.open();
  let effects = 0;
  let isOver = false;
  const busy = step({
    name: 'busy',
    execute: async (ctx) => {
      while (!isOver && !ctx.signal.aborted) {
        await ctx.effect(`e${effects}`, () => effects++);
        await turns(1);
      }
      return ctx.complete('x');
    },
  });
  const run = app.run(busy, { session, input: 'Go' });
  await eventually(() => effects > 2, { what: 'the first effects' });
  holds = true;
  await app.send(session, 'Hello');
  await eventually(() => isReading, { what: 'the inbox being read' });
  await inner.for(scope).post(session.id, {
    key: 'late',
    lane: 'control',
    by: 'user',
    at: 0,
    type: 'cancel',
    data: { reason: 'Enough.' },
  });
  // The next appends tell of the new item, while the old answer of the store is still on its way.
  const before = effects;
  await eventually(() => effects > before + 3, { what: 'more effects' });
  readOn();
  await eventually(() => session.events.some(({ type }) => type === 'user' && effects > 0), {
    what: 'the message',
  });
  const deadline = effects + 5_000;
  void eventually(() => effects > deadline, { what: 'many more effects' }).then(
    () => (isOver = true),
    () => undefined,
  );
  expect(await run).toMatchObject({ status: 'cancelled' });
});

describe('a cancel waits no longer than a second for', () => {
  const never = (): Promise<never> => new Promise(() => undefined);

  test.each([
    [
      '`approval.when`',
      tool({
        name: 'act',
        description: 'Acts',
        schema: nothing,
        execute: () => 'x',
        approval: { when: never },
      }),
    ],
    [
      'a probe',
      tool({
        name: 'act',
        description: 'Acts',
        schema: nothing,
        recovery: never,
        execute: () => {
          throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
        },
      }),
    ],
  ])('%s', async (_what, act) => {
    const clock = testClock();
    const app = runtime({ app: 'attacks', ports: { clock } });
    const session = await app.sessions.open();
    const acting = agent({
      name: 'acting',
      model: scriptedModel([{ toolCalls: [{ name: 'act', args: {} }] }, { text: 'end' }]),
      tools: [act],
    });
    const run = app.run(acting, { session, input: 'Go' });
    await eventually(() => session.events.some(({ type }) => type === 'model_end'), {
      what: 'the call',
    });
    await turns();
    run.cancel('Enough.');
    let status: string | undefined;
    void run.then((result) => (status = result.status));
    await eventually(() => status !== undefined, { what: 'the end of the run', clock });
    expect(status).toBe('cancelled');
    expect(
      session.events.filter(({ type }) => type === 'tool_result' || type === 'tool_yield'),
    ).toHaveLength(1);
  });
});

test(
  'a session that others have written to since it was read is read again ' + 'before a run',
  async () => {
    const store = hooked(memoryStore());
    const talker = (text: string) =>
      agent({ name: 'talker', model: scriptedModel([{ text }, { text: `${text} again` }]) });
    const here = runtime({ app: 'attacks', store, recover: 'manual' });
    const mine = talker('here');
    const { session } = await here.run(mine, 'One');
    await runtime({ app: 'attacks', store, recover: 'manual' }).run(talker('there'), {
      session: session.id,
      input: 'Two',
    });
    const result = await here.run(mine, { session, input: 'Three' });
    expect(result).toMatchObject({ status: 'completed', output: 'here again' });
    const said = result.session.events.flatMap((event) =>
      event.type === 'user' ? [event.text] : [],
    );
    expect(said).toEqual(['One', 'Two', 'Three']);
  },
);

test('a run whose input an open run was told is not run when it is asked for again', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let executions = 0;
  const slow = tool({
    name: 'slow',
    description: 'Takes its time',
    schema: nothing,
    execute: () => (++executions === 1 ? promise : 'x'),
  });
  const model = scriptedModel([
    { toolCalls: [{ name: 'slow', args: {} }] },
    { text: 'end' },
    { text: 'too much' },
  ]);
  const working = agent({ name: 'working', model, tools: [slow] });
  const app = runtime({ app: 'attacks', runnables: [working] });
  const session = await app.sessions.open();
  const first = app.run(working, { session, input: 'Go' });
  await eventually(() => executions === 1, { what: 'the tool' });
  const told = { session, input: 'And this', runId: 'told' };
  const second = app.run(working, told);
  await eventually(
    () => session.events.some((event) => event.type === 'user' && event.text === 'And this'),
    { what: 'the message' },
  );
  resolve('done');
  const { runId } = await first;
  expect(await second).toMatchObject({ runId, output: 'end' });
  expect(await app.run(working, told)).toMatchObject({ runId, output: 'end' });
});

test(
  'an answer to a run that waits is taken up while what it dispatched goes on, and so is a ' +
    'cancel',
  async () => {
    const store = hooked(memoryStore());
    let isSlowOver = false;
    const slow = step({
      name: 'slow',
      execute: async (ctx) => {
        await eventually(() => isSlowOver || ctx.signal.aborted, { what: 'the end' });
        return ctx.complete('slow');
      },
    });
    const root = sequence({
      name: 'root',
      runnables: [
        step({
          name: 'dispatching',
          execute: (ctx) => {
            ctx.dispatch(slow);
            return ctx.complete('');
          },
        }),
        asker('first'),
        asker('second'),
      ],
    });
    const app = runtime({ app: 'attacks', store, runnables: [root, slow] });
    const { session, pendingCalls, runId } = await app.run(root, 'Go');
    const seen: string[] = [];
    const over = new AbortController();
    /** Follows the ledger up to an event of an invocation. */
    const follow = async (type: string, path: string): Promise<void> => {
      for await (const event of store.for(scope).follow(session.id, seen.length, over.signal)) {
        seen.push(`${event.type} ${event.invocationId}`);
        if (event.type === type && event.invocationId === path) return;
      }
    };
    await app.requests.answer(pendingCalls[0]?.requestId ?? '', { input: { answer: 'Yes' } });
    await follow('invocation_yield', `${runId}/second`);
    await app.cancel(session, { reason: 'Enough.' });
    await follow('invocation_end', runId);
    expect(seen.at(-1)).toBe(`invocation_end ${runId}`);
    expect(session.ledger.invocations.byPath.get(runId)?.status).toBe('cancelled');
    isSlowOver = true;
    await app.close();
  },
);

test(
  'a child that a body made for itself leaves no question behind when it is cancelled in ' +
    'another process',
  async () => {
    const store = hooked(memoryStore());
    const root = step({
      name: 'root',
      execute: async (ctx) => ctx.complete((await ctx.call(asker())).output as string),
    });
    const { session } = await runtime({ app: 'attacks', store, recover: 'manual' }).run(root, 'Go');
    const other = runtime({ app: 'attacks', store, recover: 'manual', runnables: [root] });
    await other.cancel(session.id);
    for (const run of await other.recovery.resumeStopped())
      expect(await run).toMatchObject({ status: 'cancelled' });
    expect((await store.for(scope).requests()).map(({ status }) => status)).toEqual(['cancelled']);
  },
);

test('asking again for a run that has ended does not make its session due', async () => {
  const store = hooked(memoryStore());
  const app = runtime({ app: 'attacks', store, recover: 'manual' });
  const talker = agent({ name: 'talker', model: scriptedModel([{ text: 'end' }]) });
  const { session } = await app.run(talker, { input: 'Go', runId: 'once' });
  expect(await app.run(talker, { session, input: 'Go', runId: 'once' })).toMatchObject({
    output: 'end',
  });
  expect(await store.for(scope).due()).toEqual([]);
});

test('a session that cannot be continued does not grow with each try', async () => {
  const store = hooked(memoryStore());
  const whole = (name: string) =>
    sequence({ name: 'whole', runnables: [parallel({ name: 'both', runnables: [asker(name)] })] });
  const { session, pendingCalls } = await runtime({ app: 'attacks', store, recover: 'manual' }).run(
    whole('old'),
    'Go',
  );
  const other = runtime({
    app: 'attacks',
    store,
    recover: 'manual',
    runnables: [whole('renamed')],
  });
  await other.requests.answer(pendingCalls[0]?.requestId ?? '', { input: { answer: 'Yes' } });
  const seqs: unknown[] = [];
  for (let tries = 0; tries < 4; tries++) {
    await expect(other.resume(session.id)).rejects.toMatchObject({ code: 'ledger_mismatch' });
    seqs.push((await store.for(scope).head(session.id))?.seq);
  }
  expect(new Set(seqs).size).toBe(1);
});
