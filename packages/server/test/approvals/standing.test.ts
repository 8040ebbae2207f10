import { agent, memoryStore, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { impatient, serving } from '../client/serving.ts';
import { working } from '../rest/working-run.ts';

test('an approval that holds for later calls is given, listed and taken back', async () => {
  const { get, post } = working(memoryStore());
  const { session, links } = (await post('/v1/runs', { agent: 'asking', input: 'Pay' })).body;
  const run = `${links['run']}?wait=20000`;
  const requestId = (await get(run)).body.requests[0]?.requestId;
  const place = `/v1/approvals/${requestId}`;
  expect(await post(place, { decision: 'approve', always: 'never' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  });
  expect(await post(place, { decision: 'approve', always: { below: 'src/' } })).toMatchObject({
    status: 400,
    body: { code: 'invalid_answer' },
  });
  expect((await post(place, { decision: 'approve', always: 'tool' })).status).toBe(200);
  expect((await get(run)).body).toMatchObject({ status: 'completed' });
  const listed = await get(`/v1/sessions/${session}/standing-approvals`);
  expect(listed.body).toMatchObject({
    approvals: [{ id: requestId, tool: 'pay', covers: 'tool', by: 'operator' }],
  });
  expect((await get('/v1/sessions/nobody/standing-approvals')).status).toBe(404);
  const again = await post(`/v1/sessions/${session}/runs`, { agent: 'asking', input: 'Pay' });
  expect((await get(`${again.body.links['run']}?wait=20000`)).body.status).toBe('completed');
  expect((await post(`${place}/withdraw`, { reason: 'enough' })).status).toBe(202);
  expect((await post('/v1/approvals/none/withdraw')).status).toBe(404);
});

test('the client gives it, lists it and takes it back', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const model = roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]);
  const { url } = await serving({ runnables: [agent({ name: 'payer', model, tools: [pay] })] });
  const { approvals, runs } = impatient(url);
  const { session, id } = await runs.start({ agent: 'payer', input: 'Pay' }).accepted();
  const { requests = [] } = await runs.wait(session, id);
  const requestId = requests[0]?.requestId ?? '';
  await approvals.answer(requestId, { decision: 'approve', always: 'call' });
  await runs.wait(session, id, { until: 'end' });
  expect(await approvals.standing(session)).toMatchObject([{ id: requestId, covers: 'call' }]);
  await approvals.withdraw(requestId, { reason: 'enough' });
});
