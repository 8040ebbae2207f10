import { agent, memoryStore, runtime, tool } from 'adjutant';
import { eventually, roundModel, scriptedModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { brokenOff } from './control/broken-off-model.ts';

test('a paused run keeps its time, also when answers are taken in meanwhile', async () => {
  const clock = testClock();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: { expiresInMs: 86_400_000 },
    execute: () => 'paid',
  });
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  const store = memoryStore({ clock });
  const app = runtime({
    app: 'pauses',
    store,
    ports: { clock },
    runnables: [clerk],
    recover: 'manual',
  });
  const first = await app.run(clerk, { session: 's', input: 'Go' });
  await app.pause('s', { by: 'operator:jo' });
  for (const taken of await app.recovery.resumeStopped()) await taken;
  clock.advance(1_000_000);
  await app.requests.approve(first.pendingApprovals[0]?.requestId as string, { by: 'user:ann' });
  for (const taken of await app.recovery.resumeStopped()) await taken;
  clock.advance(1_000);
  const { session } = await app.resume('s');
  const resumed = session.events.findLast((event) => event.type === 'invocation_resume');
  expect(resumed).toMatchObject({ deadline: clock.now() + 600_000 });
});

test('a paused run whose process stopped before it yielded keeps its time', async () => {
  const clock = testClock();
  const { model, said } = brokenOff('Half', scriptedModel([{ text: 'All of it.' }]));
  const speaker = agent({ name: 'speaker', model });
  const store = memoryStore({ clock });
  const app = runtime({
    app: 'pauses',
    store,
    ports: { clock },
    runnables: [speaker],
    recover: 'manual',
  });
  const running = app.run(speaker, { session: 's', input: 'Go' });
  await said;
  await app.pause('s');
  const { ledger } = await app.sessions.open({ id: 's' });
  const isTold = () => ledger.events.some(({ type }) => type === 'decision');
  await eventually(isTold, { what: 'the pause' });
  running.stop();
  await expect(running).rejects.toMatchObject({ code: 'run_stopped' });
  clock.advance(1_000_000);
  for (const taken of await app.recovery.resumeStopped()) await taken;
  clock.advance(1_000_000);
  const { output, session } = await app.resume('s');
  expect(output).toBe('All of it.');
  const resumed = session.events.findLast((event) => event.type === 'invocation_resume');
  expect(resumed).toMatchObject({ deadline: clock.now() + 600_000 });
});
