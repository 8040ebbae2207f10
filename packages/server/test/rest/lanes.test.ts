import { agent, memoryStore, runtime, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callerOf } from './caller.ts';

/** An app with a chat, and with a report that waits for an approval. */
function office() {
  const publish = tool({
    name: 'publish',
    description: 'Publishes',
    schema: z.object({}),
    approval: true,
    execute: () => 'published',
  });
  const report = agent({
    name: 'report',
    model: roundModel([{ toolCalls: [{ name: 'publish', args: {} }] }, { text: 'It is out.' }]),
    tools: [publish],
  });
  const chat = agent({ name: 'chat', model: roundModel([{ text: 'Hello.' }]) });
  const app = runtime({ app: 'office', store: memoryStore(), runnables: [chat, report] });
  return { app, ...callerOf(app) };
}

async function reporting() {
  const made = office();
  await made.app.sessions.create({ id: 's' });
  const asked = { agent: 'report', input: 'Report', id: 'report-1', lane: 'background' };
  await made.post('/v1/sessions/s/runs', asked);
  const { body } = await made.get('/v1/sessions/s/runs/report-1?wait=30000');
  return { ...made, waiting: body };
}

describe('a run in a lane of its own', () => {
  test('waits while the run of the default lane goes on, and both say where they run', async () => {
    const { get, post, waiting } = await reporting();
    expect(waiting).toMatchObject({ status: 'waiting', lane: 'background' });
    await post('/v1/sessions/s/runs', { agent: 'chat', input: 'Hi', id: 'chat-1' });
    const { body } = await get('/v1/sessions/s/runs/chat-1?wait=30000');
    expect(body).toMatchObject({ status: 'completed', output: 'Hello.' });
    expect(body).not.toHaveProperty('lane');
    const { body: page } = await get('/v1/sessions/s/runs');
    expect(page.runs.map(({ id, lane }) => [id, lane])).toEqual([
      ['chat-1', undefined],
      ['report-1', 'background'],
    ]);
  });

  test('is continued, and gets messages and cancels, by its lane', async () => {
    const { app, get, post, waiting } = await reporting();
    expect((await post('/v1/sessions/s/continue', {})).status).toBe(409);
    await app.requests.approve(waiting.requests[0]?.requestId ?? '');
    expect(
      (await post('/v1/sessions/s/messages', { text: 'Fast', lane: 'background' })).status,
    ).toBe(202);
    const continued = await post('/v1/sessions/s/continue', { lane: 'background' });
    expect(continued.body).toMatchObject({ id: 'report-1', status: 'accepted' });
    const { body } = await get('/v1/sessions/s/runs/report-1?wait=30000');
    expect(body).toMatchObject({ status: 'completed', output: 'It is out.' });
  });

  test('a cancel without a lane is for the default lane', async () => {
    const { get, post } = await reporting();
    await post('/v1/sessions/s/cancel', { reason: 'Enough.' });
    expect((await get('/v1/sessions/s/runs/report-1')).body).toMatchObject({ status: 'waiting' });
    await post('/v1/sessions/s/cancel', { reason: 'Enough.', lane: 'background' });
    const { body } = await get('/v1/sessions/s/runs/report-1?wait=30000');
    expect(body).toMatchObject({ status: 'cancelled' });
  });

  test.each<[string, unknown]>([
    ['no string', 7],
    ['empty', ''],
    ['too long', 'x'.repeat(65)],
    ['with a slash', 'a/b'],
    ['reserved', 'default'],
  ])('has a name that fits: %s is refused', async (_what, lane) => {
    const { app, post } = office();
    await app.sessions.create({ id: 's' });
    const answers = await Promise.all([
      post('/v1/runs', { agent: 'chat', input: 'Hi', lane }),
      post('/v1/sessions/s/messages', { text: 'Hi', lane }),
      post('/v1/sessions/s/cancel', { lane }),
      post('/v1/sessions/s/continue', { lane }),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain('lane');
    }
  });
});
