import { agent, memoryStore, runtime, sequence, step, tool } from 'adjutant';
import { eventually, keptOpen, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { gate, waiting } from './waiting-run.ts';

describe('a run that is under way', () => {
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
});
