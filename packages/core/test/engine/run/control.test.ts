import { agent, memoryStore, parallel, runtime, sequence, step, tool } from 'adjutant';
import { eventually, keptOpen, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

function gate() {
  return Promise.withResolvers<void>();
}

describe('reopen', () => {
  test('hours later leaves a run the time that it had when it failed', async () => {
    const clock = testClock();
    let works = false;
    const slow = step({
      name: 'slow',
      execute: async (ctx) => {
        await ctx.effect('look', () => 'seen', { recovery: 'rerun' });
        if (!works) throw new Error('broken');
        await ctx.effect('work', () => 'done');
        return ctx.complete('fixed');
      },
    });
    const app = runtime({ app: 'control', runnables: [slow], ports: { clock } });
    await app.run(slow, { session: 's', timeoutMs: 60_000 });
    works = true;
    clock.advance(3_600_000);
    await app.sessions.reopen('s', { reason: 'it is fixed' });
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'fixed' });
  });

  test('lets a failed run go on where it failed, with what completed kept', async () => {
    let works = false;
    const ran: string[] = [];
    const first = step({ name: 'first', execute: (ctx) => ctx.complete(ran.push('first')) });
    const second = step({
      name: 'second',
      execute: (ctx) => (works ? ctx.complete('fixed') : ctx.fail('broken')),
    });
    const whole = sequence({ name: 'whole', runnables: [first, second] });
    const app = runtime({
      app: 'control',
      store: keptOpen(memoryStore()),
      runnables: [whole],
      recover: 'manual',
    });
    const failed = await app.run(whole, { session: 's', input: 'Go' });
    expect(failed.status).toBe('error');
    await expect(app.resume('s')).rejects.toMatchObject({ code: 'no_open_run' });
    works = true;
    await app.sessions.reopen('s', { reason: 'it is fixed' });
    expect(await app.resume('s')).toMatchObject({
      status: 'completed',
      output: 'fixed',
      runId: failed.runId,
    });
    expect(ran).toEqual(['first']);
    await expect(app.sessions.reopen('s', { reason: 'again' })).rejects.toMatchObject({
      code: 'not_reopenable',
    });
    await expect(
      app.sessions.reopen('s', { path: 'nowhere', reason: 'again' }),
    ).rejects.toMatchObject({
      code: 'not_reopenable',
    });
  });

  test('of a parallel reopens the branches that failed and were cancelled', async () => {
    let works = false;
    const ran: string[] = [];
    const good = step({ name: 'good', execute: (ctx) => ctx.complete(ran.push('good')) });
    const bad = step({
      name: 'bad',
      execute: (ctx) => (works ? ctx.complete('ok') : ctx.fail('broken')),
    });
    const both = parallel({ name: 'both', runnables: [good, bad] });
    const app = runtime({
      app: 'control',
      store: keptOpen(memoryStore()),
      runnables: [both],
      recover: 'manual',
    });
    expect((await app.run(both, { session: 's' })).status).toBe('error');
    works = true;
    await app.sessions.reopen('s', { reason: 'it is fixed' });
    expect(await app.resume('s')).toMatchObject({
      status: 'completed',
      output: { good: 1, bad: 'ok' },
    });
    expect(ran).toEqual(['good']);
  });
});

describe('a run that is under way', () => {
  /** A model that waits in its first call, and what it was sent in each. */
  function waiting(texts: readonly string[]) {
    const prompts: string[] = [];
    const begun = gate();
    const goOn = gate();
    const scripted = scriptedModel(texts.map((text) => ({ text })));
    const doStream: typeof scripted.doStream = async (options) => {
      prompts.push(JSON.stringify(options.prompt));
      begun.resolve();
      const aborted = new Promise<never>((_resolve, reject) => {
        options.abortSignal?.addEventListener('abort', () => reject(options.abortSignal?.reason));
      });
      if (prompts.length === 1) await Promise.race([goOn.promise, aborted]);
      return scripted.doStream(options);
    };
    const model = { ...scripted, doStream };
    return { model, prompts, begun: begun.promise, goOn: () => goOn.resolve() };
  }

  test('is not cancelled with another run that has ended by then', async () => {
    const { model, begun, goOn } = waiting(['one']);
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'a', model }), {
      session: 's',
      input: 'Go',
      runId: 'second',
    });
    await begun;
    await app.cancel('s', { runId: 'first' });
    const { ledger } = await app.sessions.open({ id: 's' });
    const refused = () =>
      ledger.events.some(
        (event) =>
          event.type === 'decision' && event.component === 'inbox' && event.decision === 'refuse',
      );
    await eventually(refused, { what: 'the refusal' });
    goOn();
    expect(await run).toMatchObject({ status: 'completed', output: 'one' });
  });

  test('is cancelled by its name', async () => {
    const { model, begun } = waiting(['one']);
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'a', model }), { session: 's', input: 'Go', runId: 'first' });
    await begun;
    await app.cancel('s', { runId: 'first', reason: 'Enough.' });
    expect(await run).toMatchObject({ status: 'cancelled', error: { message: 'Enough.' } });
  });

  test('gets what is sent to it in its next prompt', async () => {
    const { model, prompts, begun, goOn } = waiting(['one', 'two']);
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'a', model }), { session: 's', input: 'Go' });
    await begun;
    await app.send('s', 'And this', { by: 'user:7' });
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(
      () => ledger.events.some((event) => event.type === 'user' && event.text === 'And this'),
      { what: 'the message' },
    );
    goOn();
    expect(await run).toMatchObject({ status: 'completed', output: 'two' });
    expect(prompts[1]).toContain('And this');
  });

  test('says so when a message is for a part of it that does not exist', async () => {
    const { model, prompts, begun, goOn } = waiting(['one']);
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'a', model }), { session: 's', input: 'Go', runId: 'run' });
    await begun;
    await app.send('s', 'And this', { invocationId: 'run/nobody' });
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(() => ledger.events.some(({ type }) => type === 'decision'), {
      what: 'the refusal',
    });
    goOn();
    expect(await run).toMatchObject({ status: 'completed', output: 'one' });
    expect(prompts).toHaveLength(1);
    expect(ledger.events.find(({ type }) => type === 'decision')).toMatchObject({
      decision: 'refuse',
      reasoning: expect.stringContaining('"run/nobody"'),
      data: { type: 'user', text: 'And this' },
    });
  });

  test('is cut off by a message that cannot wait', async () => {
    const { model, prompts, begun } = waiting(['two']);
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'a', model }), { session: 's', input: 'Go' });
    await begun;
    await app.send('s', 'Stop, do this', { interrupt: true });
    const result = await run;
    expect(result).toMatchObject({ status: 'completed', output: 'two' });
    expect(prompts[1]).toContain('Stop, do this');
    expect(
      result.session.events
        .filter((event) => event.type === 'model_end')
        .map((event) => event.status),
    ).toEqual(['cancelled', 'completed']);
  });

  test('that is paused ends its round, waits and goes on when it is resumed', async () => {
    const begun = gate();
    const goOn = gate();
    const work = tool({
      name: 'work',
      description: 'Works',
      schema: z.object({}),
      execute: async () => {
        begun.resolve();
        await goOn.promise;
        return 'worked';
      },
    });
    const worker = agent({
      name: 'worker',
      model: scriptedModel([{ toolCalls: [{ name: 'work', args: {} }] }, { text: 'done' }]),
      tools: [work],
    });
    const app = runtime({ app: 'control' });
    const run = app.run(worker, { session: 's', input: 'Go' });
    await begun.promise;
    await app.pause('s', { reason: 'lunch', by: 'operator:jo' });
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(
      () => ledger.events.some((event) => event.type === 'decision' && event.decision === 'pause'),
      { what: 'the pause' },
    );
    goOn.resolve();
    const paused = await run;
    expect(paused).toMatchObject({ status: 'yielded', pendingCalls: [], awaitingInput: false });
    expect(paused.session.events.filter(({ type }) => type === 'tool_result')).toHaveLength(1);
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'done' });
  });

  test('that is paused is not continued by recovery, whatever is posted to it', async () => {
    const store = keptOpen(memoryStore());
    const { model, prompts, begun, goOn } = waiting(['one', 'two']);
    const talker = agent({ name: 'a', model });
    const app = runtime({ app: 'control', store, runnables: [talker], recover: 'manual' });
    const run = app.run(talker, { session: 's', input: 'Go' });
    await begun;
    await app.send('s', 'And this');
    await app.pause('s');
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(
      () => ledger.events.some((event) => event.type === 'decision' && event.decision === 'pause'),
      { what: 'the pause' },
    );
    goOn();
    expect(await run).toMatchObject({ status: 'yielded' });
    expect(await app.recovery.resumeStopped()).toEqual([]);
    await app.send('s', 'And that');
    const [taken] = await app.recovery.resumeStopped();
    expect(await taken).toMatchObject({ status: 'yielded' });
    expect(prompts).toHaveLength(1);
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'two' });
    expect(prompts[1]).toContain('And that');
  });

  test('that is paused and then loses its process is not continued by another one', async () => {
    const store = keptOpen(memoryStore());
    const { model, prompts, begun } = waiting(['one', 'two']);
    const talker = agent({ name: 'a', model });
    const app = runtime({ app: 'control', store, runnables: [talker], recover: 'manual' });
    const run = app.run(talker, { session: 's', input: 'Go' });
    await begun;
    await app.pause('s');
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(
      () => ledger.events.some((event) => event.type === 'decision' && event.decision === 'pause'),
      { what: 'the pause' },
    );
    run.stop();
    await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
    const [taken] = await app.recovery.resumeStopped();
    expect(await taken).toMatchObject({ status: 'yielded' });
    expect(prompts).toHaveLength(1);
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'one' });
  });

  test('that is paused, loses its process and is resumed goes on after another loss', async () => {
    const store = keptOpen(memoryStore());
    const { model, begun } = waiting(['one', 'two']);
    const reached = gate();
    const rest = step({
      name: 'rest',
      execute: async (ctx) => {
        reached.resolve();
        if (held++ > 0) return ctx.complete('rested');
        return new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error));
        });
      },
    });
    let held = 0;
    const whole = sequence({ name: 'whole', runnables: [agent({ name: 'a', model }), rest] });
    const app = runtime({ app: 'control', store, runnables: [whole], recover: 'manual' });
    const run = app.run(whole, { session: 's', input: 'Go' });
    await begun;
    await app.pause('s');
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(
      () => ledger.events.some((event) => event.type === 'decision' && event.decision === 'pause'),
      { what: 'the pause' },
    );
    run.stop();
    await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
    const resumed = app.resume('s');
    await reached.promise;
    resumed.stop();
    await expect(resumed).rejects.toMatchObject({ code: 'run_stopped' });
    const [taken] = await app.recovery.resumeStopped();
    expect(await taken).toMatchObject({ status: 'completed' });
  });

  test('that is paused before it asks a person is not continued by the answer', async () => {
    const store = keptOpen(memoryStore());
    const reached = gate();
    const asked = gate();
    const paid: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({}),
      approval: true,
      execute: () => paid.push('paid'),
    });
    const scripted = scriptedModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'done' }]);
    const doStream: typeof scripted.doStream = async (options) => {
      reached.resolve();
      await asked.promise;
      return scripted.doStream(options);
    };
    const model = { ...scripted, doStream };
    const clerk = agent({ name: 'clerk', model, tools: [pay] });
    const app = runtime({ app: 'control', store, runnables: [clerk], recover: 'manual' });
    const run = app.run(clerk, { session: 's', input: 'Go' });
    await reached.promise;
    await app.pause('s');
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(
      () => ledger.events.some((event) => event.type === 'decision' && event.decision === 'pause'),
      { what: 'the pause' },
    );
    asked.resolve();
    await run;
    const [request] = await app.requests.list();
    await app.requests.approve(request?.requestId ?? '', { by: 'user:ann' });
    const [taken] = await app.recovery.resumeStopped();
    expect(await taken).toMatchObject({ status: 'yielded' });
    expect(paid).toEqual([]);
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'done' });
    expect(paid).toEqual(['paid']);
  });

  test(
    'that waits and is told to pause goes on all the same when somebody resumes it ' + 'after that',
    async () => {
      const ask = tool({
        name: 'ask',
        description: 'Asks',
        schema: z.object({}),
        yieldSchema: z.object({ answer: z.string() }),
      });
      const asker = agent({
        name: 'asker',
        model: scriptedModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'thanks' }]),
        tools: [ask],
      });
      const app = runtime({
        app: 'control',
        store: keptOpen(memoryStore()),
        runnables: [asker],
        recover: 'manual',
      });
      const { session, pendingCalls } = await app.run(asker, { session: 's', input: 'Go' });
      await app.pause('s');
      session.addToolInput(pendingCalls[0]?.callId ?? '', { answer: 'yes' });
      await session.flush();
      expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'thanks' });
    },
  );

  test('goes on by rounds', async () => {
    const work = tool({
      name: 'work',
      description: 'Works',
      schema: z.object({}),
      execute: () => 'worked',
    });
    const rounds = [
      { toolCalls: [{ name: 'work', args: {} }] },
      { toolCalls: [{ name: 'work', args: {} }] },
      { text: 'done' },
    ];
    const worker = agent({ name: 'worker', model: scriptedModel(rounds), tools: [work] });
    const app = runtime({ app: 'control', runnables: [worker] });
    const session = await app.sessions.open({ id: 's' });
    expect(await app.advance(session)).toEqual({ status: 'done', result: undefined });
    const stopped = app.run(worker, { session, input: 'Go' });
    stopped.stop();
    await expect(stopped).rejects.toMatchObject({ code: 'run_stopped' });
    const ends: [string, number | undefined][] = [];
    for (let i = 0; i < 4; i++) {
      const { status, result } = await app.advance('s', { until: 'round' });
      ends.push([status, result?.rounds]);
    }
    expect(ends).toEqual([
      ['more', 1],
      ['more', 2],
      ['done', 3],
      ['done', 3],
    ]);
  });

  test('is told what comes with a second run of the same, which gives its result', async () => {
    const { model, prompts, begun, goOn } = waiting(['one', 'two']);
    const app = runtime({ app: 'control' });
    const talker = agent({ name: 'a', model });
    const first = app.run(talker, { session: 's', input: 'Go' });
    await begun;
    const second = app.run(talker, { session: 's', input: 'And this' });
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(
      () => ledger.events.some((event) => event.type === 'user' && event.text === 'And this'),
      { what: 'the message' },
    );
    goOn();
    expect((await second).runId).toBe((await first).runId);
    expect(prompts[1]).toContain('And this');
  });

  test('of another process is followed, and cancelled from there', async () => {
    const store = keptOpen(memoryStore());
    const begun = gate();
    let aborted = false;
    const work = tool({
      name: 'work',
      description: 'Works',
      schema: z.object({}),
      execute: ({ signal }) =>
        new Promise((_resolve, reject) => {
          begun.resolve();
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason);
          });
        }),
    });
    const worker = () =>
      agent({
        name: 'worker',
        model: scriptedModel([{ toolCalls: [{ name: 'work', args: {} }] }, { text: 'done' }]),
        tools: [work],
      });
    const holder = runtime({ app: 'control', store, recover: 'manual' });
    const run = holder.run(worker(), { session: 's', input: 'Go' });
    await begun.promise;
    const other = runtime({ app: 'control', store, recover: 'manual', runnables: [worker()] });
    const followed = other.resume('s');
    await other.cancel('s', { by: 'user:7', reason: 'changed my mind' });
    expect(await run).toMatchObject({ status: 'cancelled' });
    expect(await followed).toMatchObject({ status: 'cancelled' });
    expect(aborted).toBe(true);
    const cancels = (await run).session.events.filter(({ type }) => type === 'cancel');
    expect(cancels).toMatchObject([{ by: 'user:7', reason: 'changed my mind' }]);
  });
});

test(
  'a run that waits for what has not come is left as it is, however often it ' + 'is advanced',
  async () => {
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ answer: z.string() }),
    });
    const asker = agent({
      name: 'asker',
      model: scriptedModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'thanks' }]),
      tools: [ask],
    });
    const app = runtime({ app: 'control' });
    const { session, pendingCalls } = await app.run(asker, { session: 's', input: 'Go' });
    const { length } = session.events;
    for (let i = 0; i < 3; i++) {
      expect(await app.advance('s')).toMatchObject({
        status: 'waiting',
        waitingFor: { calls: [{ name: 'ask' }], message: false },
      });
    }
    expect(session.events).toHaveLength(length);
    session.addToolInput(pendingCalls[0]?.callId ?? '', { answer: 'yes' });
    expect(await app.advance(session)).toMatchObject({
      status: 'done',
      result: { output: 'thanks' },
    });
  },
);

test(
  'a run that would be one too many to wait for its user is cancelled, and its question ' +
    'withdrawn',
  async () => {
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ answer: z.string() }),
    });
    const asker = agent({
      name: 'asker',
      model: scriptedModel(() => ({ toolCalls: [{ name: 'ask', args: {} }] })),
      tools: [ask],
    });
    const app = runtime({ app: 'control', limits: { waitingRunsPerUser: 2 } });
    const runFor = async (userId: string) =>
      app.run(asker, { session: await app.sessions.open({ userId }), input: 'Go' });
    expect([(await runFor('ann')).status, (await runFor('ann')).status]).toEqual([
      'yielded',
      'yielded',
    ]);
    const third = await runFor('ann');
    expect(third).toMatchObject({ status: 'cancelled', pendingCalls: [] });
    expect(
      third.session.events.find(
        (event) => event.type === 'decision' && event.component === 'limits',
      ),
    ).toMatchObject({
      decision: 'too_many_waiting',
      data: { user: 'ann', waiting: 2, limit: 2 },
    });
    expect(await app.requests.list({ user: 'ann', status: 'pending' })).toHaveLength(2);
    expect((await runFor('bob')).status).toBe('yielded');
  },
);

test('recovery continues what a process left, and what an answer was posted for', async () => {
  const clock = testClock();
  const store = keptOpen(memoryStore({ clock }));
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    schema: z.object({}),
    yieldSchema: z.object({ answer: z.string() }),
  });
  const asker = () =>
    agent({
      name: 'asker',
      model: scriptedModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'thanks' }]),
      tools: [ask],
    });
  const first = runtime({ app: 'control', store, recover: 'manual', ports: { clock } });
  const stopped = first.run(asker(), { session: 's', input: 'Go' });
  stopped.stop();
  await stopped.then(undefined, () => undefined);
  const second = runtime({
    app: 'control',
    store,
    recover: 'manual',
    runnables: [asker()],
    ports: { clock },
  });
  const [run] = await second.recovery.resumeStopped();
  expect(await run).toMatchObject({ status: 'yielded' });
  expect(await second.recovery.resumeStopped()).toEqual([]);
  const session = await second.sessions.open({ id: 's' });
  session.addToolInput(session.pendingYieldingCalls[0]?.callId ?? '', { answer: 'yes' });
  await session.flush();
  const [again] = await second.recovery.resumeStopped();
  expect(await again).toMatchObject({ status: 'completed', output: 'thanks' });
  expect(await second.recovery.resumeStopped()).toEqual([]);
});

test(
  'what somebody found out about a call of unknown outcome is told to the model, and an ' +
    'equal call is a new one',
  async () => {
    const keys: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({ cents: z.number() }),
      onRepeat: 'refuse',
      execute: ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
        return 'paid';
      },
    });
    const call = { toolCalls: [{ name: 'pay', args: { cents: 5 } }] };
    const model = scriptedModel([call, { text: 'unsure' }, call, { text: 'paid twice' }]);
    const payer = agent({ name: 'payer', model, tools: [pay] });
    const app = runtime({ app: 'control' });
    const first = await app.run(payer, { session: 's', input: 'Pay' });
    const { callId } = first.session.events.find((event) => event.type === 'tool_result') ?? {
      callId: '',
    };
    await app.sessions.resolveUnknown('s', callId, {
      happened: true,
      result: 'paid after all',
      by: 'operator:jo',
    });
    await expect(
      app.sessions.resolveUnknown('s', 'nothing/r1.0', { happened: false }),
    ).rejects.toMatchObject({ code: 'not_resolvable', data: { callId: 'nothing/r1.0' } });
    await expect(
      app.sessions.resolveUnknown('s', callId, { happened: false }),
    ).rejects.toMatchObject({
      code: 'not_resolvable',
      message: expect.stringContaining('it is known by now'),
    });
    const second = await app.run(payer, { session: 's', input: 'And again' });
    expect(second).toMatchObject({ status: 'completed', output: 'paid twice' });
    expect(keys).toHaveLength(2);
    expect(keys[1]).not.toBe(keys[0]);
    expect(
      second.session.events.filter((event) => event.type === 'tool_result' && event.late === true),
    ).toMatchObject([{ by: 'operator:jo', callId, result: { content: 'paid after all' } }]);
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain('paid after all');
    const refusals = second.session.events.filter(
      (event) => event.type === 'decision' && event.decision === 'refuse',
    );
    expect(refusals).toEqual([]);
  },
);

test(
  'a session whose inbox holds what nobody can use is not looked at again ' + 'and again',
  async () => {
    const store = keptOpen(memoryStore());
    const done = agent({ name: 'done', model: scriptedModel([{ text: 'done' }]) });
    const app = runtime({ app: 'control', store, runnables: [done], recover: 'manual' });
    await app.run(done, { session: 's', input: 'Go' });
    const data = { text: 'Start something', runId: 'nobody' };
    const ledgers = store.for({ tenant: 'default', app: 'control' });
    await ledgers.post('s', { key: 'k', lane: 'input', by: 'user', at: 1, type: 'user', data });
    const [first] = await app.recovery.resumeStopped();
    await expect(first).rejects.toMatchObject({ code: 'no_open_run' });
    expect(await ledgers.due()).toHaveLength(1);
    expect(await app.recovery.resumeStopped()).toEqual([]);
  },
);
