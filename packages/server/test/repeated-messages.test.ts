import { agent, memoryStore, runtime, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { server } from '../src/index.ts';
import { send } from './approvals/paying-app.ts';

const askText = tool({
  name: 'askText',
  description: 'Asks',
  schema: z.object({ about: z.string() }),
  yieldSchema: z.string().min(2),
});

/** A server whose agent asks for the colour and then for the size; it waits for the first. */
async function askingServer() {
  const clerk = agent({
    name: 'clerk',
    model: roundModel([
      { toolCalls: [{ name: 'askText', args: { about: 'the colour' } }] },
      { toolCalls: [{ name: 'askText', args: { about: 'the size' } }] },
      { text: 'Thank you.' },
    ]),
    tools: [askText],
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  await app.run(clerk, { session: 's', input: 'Paint it' });
  const settled = async () => {
    const run = await send(api, 'GET', '/v1/sessions/s/runs');
    const [{ id }] = (run.body as unknown as { runs: [{ id: string }] }).runs;
    return send(api, 'GET', `/v1/sessions/s/runs/${id}?wait=10000`);
  };
  const said = async () => {
    const { events } = await app.sessions.get('s');
    return {
      answers: events.flatMap((event) => (event.type === 'tool_input' ? [event.input] : [])),
      messages: events.flatMap((event) => (event.type === 'user' ? [event.text] : [])),
    };
  };
  return { api, settled, said };
}

const keyed = { 'idempotency-key': 'k' };

test('an input that is taken as an answer is taken once under one Idempotency-Key', async () => {
  const { api, settled, said } = await askingServer();
  const path = '/v1/sessions/s/runs';
  const body = { agent: 'clerk', input: 'red' };
  for (let i = 0; i < 3; i++) {
    const { status, headers } = await send(api, 'POST', path, body, keyed);
    expect(status).toBe(202);
    const { body: run } = await settled();
    // The address of the answer finds the run that took the message.
    const found = await send(api, 'GET', headers.get('location') ?? '');
    expect(found.body).toMatchObject({ id: (run as { id: string }).id });
  }
  expect(await said()).toEqual({ answers: ['red'], messages: ['Paint it'] });
  // Under another key it is another one, and the answer to the second question.
  await send(api, 'POST', path, body, { 'idempotency-key': 'other' });
  await settled();
  expect(await said()).toEqual({ answers: ['red', 'red'], messages: ['Paint it'] });
});

test('it is taken once also where the answer is a stream, which is not kept', async () => {
  const { api, settled, said } = await askingServer();
  const headers = { ...keyed, accept: 'text/event-stream', 'content-type': 'application/json' };
  const body = JSON.stringify({ agent: 'clerk', input: 'red' });
  for (let i = 0; i < 3; i++) {
    const url = 'http://localhost/v1/sessions/s/runs';
    const answer = await api.fetch(new Request(url, { method: 'POST', headers, body }));
    expect(answer.status).toBe(200);
    await settled();
    // The connection is lost before the end.
    await answer.body?.cancel();
  }
  expect(await said()).toEqual({ answers: ['red'], messages: ['Paint it'] });
});

test('a message that answers nothing is kept once under one Idempotency-Key', async () => {
  const { api, settled, said } = await askingServer();
  for (let i = 0; i < 3; i++) {
    const left = await send(api, 'POST', '/v1/sessions/s/messages', { text: '!' }, keyed);
    expect(left.status).toBe(202);
  }
  const body = { agent: 'clerk', input: 'red' };
  await send(api, 'POST', '/v1/sessions/s/runs', body, { 'idempotency-key': 'answer' });
  await settled();
  expect(await said()).toEqual({ answers: ['red'], messages: ['Paint it', '!'] });
});
