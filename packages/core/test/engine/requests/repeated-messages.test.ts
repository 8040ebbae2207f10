import { agent, memoryStore, type Runtime, runtime, tool } from 'adjutant';
import { keptOpen, roundModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const askText = tool({
  name: 'askText',
  description: 'Asks',
  schema: z.object({ about: z.string() }),
  yieldSchema: z.string().min(2),
});

/** Asks two questions, one after the other. */
const asking = agent({
  name: 'asking',
  model: roundModel([
    { toolCalls: [{ name: 'askText', args: { about: 'the colour' } }] },
    { toolCalls: [{ name: 'askText', args: { about: 'the size' } }] },
    { text: 'Thank you.' },
  ]),
  tools: [askText],
});

/** An app whose run in the session `s` waits for the first answer. */
async function waiting(store = keptOpen(memoryStore())) {
  const make = (): Runtime =>
    runtime({ app: 'repeats', store, runnables: [asking], recover: 'manual' });
  const app = make();
  const first = await app.run(asking, { session: 's', input: 'Paint it' });
  const ledgers = store.for({ tenant: 'default', app: 'repeats' });
  return { app, make, runId: first.runId, ledgers };
}

async function said(app: Runtime) {
  const { events } = await app.sessions.get('s');
  return {
    answers: events.flatMap((event) => (event.type === 'tool_input' ? [event.input] : [])),
    messages: events.flatMap((event) => (event.type === 'user' ? [event.text] : [])),
  };
}

describe('a message that was taken as an answer', () => {
  test('is taken once, however often it is sent under its name', async () => {
    const { app, runId } = await waiting();
    const asked = { session: 's', runId: 'message-1', input: 'red' };
    for (let i = 0; i < 3; i++)
      expect(await app.run(asking, asked)).toMatchObject({
        runId,
        status: 'yielded',
        pendingCalls: [{ args: { about: 'the size' } }],
      });
    expect(await said(app)).toEqual({ answers: ['red'], messages: ['Paint it'] });
  });

  test('is taken once, also when another process gets it again', async () => {
    const { app, make, runId } = await waiting();
    const asked = { session: 's', runId: 'message-1', input: 'red' };
    await app.run(asking, asked);
    const other = make();
    expect(await other.run(asking, asked)).toMatchObject({ runId, status: 'yielded' });
    expect(await said(other)).toEqual({ answers: ['red'], messages: ['Paint it'] });
  });

  test('gets the result of the run that took it when that has ended', async () => {
    const { app, make, runId } = await waiting();
    await app.run(asking, { session: 's', runId: 'message-1', input: 'red' });
    const last = await app.run(asking, { session: 's', runId: 'message-2', input: 'large' });
    expect(last).toMatchObject({ status: 'completed', output: 'Thank you.' });
    for (const each of [app, make()])
      expect(
        await each.run(asking, { session: 's', runId: 'message-1', input: 'red' }),
      ).toMatchObject({ runId, status: 'completed', output: 'Thank you.' });
    expect(await said(app)).toEqual({ answers: ['red', 'large'], messages: ['Paint it'] });
  });

  test('is another one under another name, or with another text', async () => {
    const { app } = await waiting();
    await app.run(asking, { session: 's', runId: 'message-1', input: 'red' });
    const last = await app.run(asking, { session: 's', runId: 'message-1', input: 'blue' });
    expect(last.status).toBe('completed');
    expect(await said(app)).toEqual({ answers: ['red', 'blue'], messages: ['Paint it'] });
  });

  test('is taken once when it was given as the answer with its key', async () => {
    const { app, runId } = await waiting();
    const [request] = await app.requests.list({ status: 'pending' });
    await app.requests.answer(request?.requestId ?? '', {
      input: 'red',
      by: 'user:ann',
      clientKey: 'message-1',
    });
    const asked = { session: 's', runId: 'message-1', input: 'red' };
    expect(await app.run(asking, asked)).toMatchObject({ runId, status: 'yielded' });
    expect(await said(app)).toEqual({ answers: ['red'], messages: ['Paint it'] });
  });

  test('is taken once when the process that has the session gets it again', async () => {
    const { app, runId, ledgers } = await waiting();
    const [request] = await app.requests.list({ status: 'pending' });
    await app.requests.answer(request?.requestId ?? '', { input: 'red', clientKey: 'message-1' });
    // This is what another process posts that finds the session held.
    await ledgers.post('s', {
      ...{ key: 'run:message-1', lane: 'input', by: 'user', at: 0, type: 'user' },
      data: { text: 'red', runId: 'message-1', runnable: 'asking' },
    });
    expect(await app.resume('s')).toMatchObject({ runId, status: 'yielded' });
    expect(await said(app)).toEqual({ answers: ['red'], messages: ['Paint it'] });
    expect(await ledgers.inbox('s')).toEqual([]);
  });

  test.each([[''], [5]])('has no key such as %j', async (clientKey) => {
    const { app } = await waiting();
    const [request] = await app.requests.list({ status: 'pending' });
    await expect(
      app.requests.answer(request?.requestId ?? '', { input: 'red', clientKey } as never),
    ).rejects.toMatchObject({ code: 'invalid_answer' });
    expect((await said(app)).answers).toEqual([]);
  });
});
