import { agent, runtime, tool } from 'adjutant';
import { eventually, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { server } from '../src/index.ts';

function waitingApp(recover?: 'manual') {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    approval: true,
    execute: () => 'paid',
  });
  const clerk = agent({
    name: 'clerk',
    model: scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  return {
    clerk,
    app: runtime({
      app: 'shop',
      runnables: [clerk],
      ...(recover === undefined ? {} : { recover }),
    }),
  };
}

test.each([
  ['', undefined, 'completed'],
  [', unless it is told not to', 'manual', 'awaiting_input'],
] as const)('an app without a store continues what was answered%s', async (_, recover, status) => {
  const { app, clerk } = waitingApp(recover);
  const { fetch, close } = server(app);
  const { requestId = '' } =
    (await app.run(clerk, { session: 's', input: 'Pay' })).pendingCalls[0] ?? {};
  const answered = await fetch(
    new Request(`http://localhost/v1/approvals/${requestId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'approve' }),
    }),
  );
  expect(answered.status).toBeLessThan(300);
  const statusNow = async (): Promise<unknown> =>
    (await app.sessions.list({ id: 's' })).sessions[0]?.status;
  let found = await statusNow();
  if (recover === undefined) {
    for (let turns = 0; found !== status && turns < 1_000; turns++) {
      await eventually(new Promise((resolve) => setImmediate(resolve)));
      found = await statusNow();
    }
  }
  expect(found).toBe(status);
  expect(app.recovery.isAutomatic).toBe(recover === undefined);
  await close();
  await app.close();
});
