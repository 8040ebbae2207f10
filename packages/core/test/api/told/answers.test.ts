import { agent, memoryStore, type RuntimeOptions, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** A run that waits for an approval, of an app without a store if none is given. */
async function waiting(options: Pick<RuntimeOptions, 'store'> = {}) {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]);
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const app = runtime({ app: 'shop', runnables: [clerk], ...options });
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

test('with a store the run is faster than resume, and its `runId` gives the result', async () => {
  const { app, clerk, result, request } = await waiting({ store: memoryStore() });
  await app.requests.approve(request.requestId);
  for await (const event of app.follow(result.session)) if (event.type === 'invocation_end') break;
  await expect(app.resume(clerk, result.session)).rejects.toThrow(
    `Session "${result.session.id}" has no run to continue: every run in it has ended, perhaps ` +
      'in another process. Give `runId`, as in app.resume(runnable, session, { runId }), for ' +
      'the result of one that has ended; app.run starts a new one.',
  );
  const { runId } = result;
  expect(await app.resume(clerk, result.session, { runId })).toMatchObject({ output: 'Paid.' });
  await app.close();
});
