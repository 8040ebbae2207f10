import { agent, memoryStore, runtime, tool } from 'adjutant';
import { eventually, keptOpen, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { gate, waiting } from './waiting-run.ts';

describe('a run that is under way', () => {
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
