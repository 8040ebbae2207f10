import { agent, runtime, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

/** An app whose run waits for leave of those who are named. */
async function waitingFor(mayDecide: readonly string[]) {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: { mayDecide },
    execute: () => 'paid',
  });
  const payer = agent({
    name: 'payer',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  const app = runtime({
    app: 'shop',
    runnables: [payer],
    approvals: { keys: [{ id: 'one', secret: 'k'.repeat(32) }] },
  });
  onTestFinished(() => app.close());
  const { pendingApprovals } = await app.run(payer, 'Pay');
  return { app, requestId: pendingApprovals[0]?.requestId ?? '' };
}

const kinds = ['user', 'operator', 'trigger'];
/** Names that look as if they had a kind, too. */
const names = [
  'cfo',
  'user:cfo',
  'operator:cfo',
  'key:abcd',
  'operator:key:abcd',
  'user',
  'operator',
];
const actors = [...kinds, ...kinds.flatMap((kind) => names.map((name) => `${kind}:${name}`))];

describe.for([...actors, 'cfo', 'role:clerk', 'key:abcd'])(
  'A2: what `mayDecide: [%j]` waits for',
  (named) => {
    const one = kinds.includes(named.split(':')[0] as string) ? named : `user:${named}`;

    test(`is said by ${one}, and by nobody else`, async () => {
      const { app, requestId } = await waitingFor([named]);
      const others = [...actors, 'user:role:clerk', 'operator:role:clerk'].filter(
        (by) => by !== one,
      );
      for (const by of others) {
        await expect(app.requests.approve(requestId, { by }), by).rejects.toMatchObject({
          code: 'may_not_decide',
        });
        await expect(app.requests.token(requestId, { by }), by).rejects.toMatchObject({
          code: 'may_not_decide',
        });
      }
      const token = await app.requests.token(requestId, { by: one });
      expect(await app.requests.show(token)).toMatchObject({ by: one });
      await app.requests.approve(requestId, { by: one });
      expect(await app.requests.get(requestId)).toMatchObject({ settledBy: one });
    });
  },
);

test('A2: a name without a kind is that of a user, in `by` as in `mayDecide`', async () => {
  const { app, requestId } = await waitingFor(['cfo']);
  await expect(app.requests.approve(requestId, { by: 'operator:cfo' })).rejects.toThrow(
    /operator:cfo may not answer .*: only user:cfo may\.$/,
  );
  await app.requests.approve(requestId, { by: 'cfo' });
  expect(await app.requests.get(requestId)).toMatchObject({
    settledBy: 'user:cfo',
    mayDecide: ['cfo'],
  });
});
