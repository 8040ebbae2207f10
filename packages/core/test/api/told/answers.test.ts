import { agent, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** A run of an app without a store that waits for an approval. */
async function waiting() {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]);
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const app = runtime({ app: 'shop', runnables: [clerk] });
  const result = await app.run(clerk, 'Pay');
  const [request] = result.pendingApprovals;
  if (request === undefined) throw new Error('Nothing waits.');
  return { app, clerk, result, request };
}

test('the id of the call in the place of that of the request', async () => {
  const { app, request } = await waiting();
  await expect(app.requests.approve(request.callId)).rejects.toThrow(
    `There is no request "${request.callId}": that is the id of a call. Give the \`requestId\` ` +
      'that stands beside it.',
  );
});

test('the request in the place of its id', async () => {
  const { app, request } = await waiting();
  await expect(app.requests.approve(request as never)).rejects.toThrow(
    'This is no answer to a request: a request is named by its `requestId`, a text, not by an ' +
      'object.',
  );
});

test('a decision that is none, and a second answer', async () => {
  const { app, request } = await waiting();
  await expect(
    app.requests.answer(request.requestId, { decision: 'yes' as never }),
  ).rejects.toThrow(/'?approve'?/);
  await app.requests.approve(request.requestId);
  await expect(app.requests.reject(request.requestId)).rejects.toThrow(/approved/);
});

test('without a store the answer waits for resume, which goes on by itself', async () => {
  const { app, clerk, result, request } = await waiting();
  await app.requests.approve(request.requestId);
  expect(await app.resume(clerk, result.session)).toMatchObject({
    status: 'completed',
    output: 'Paid.',
  });
});
