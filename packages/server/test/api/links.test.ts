import { agent, memoryStore, type Runtime, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { server } from '../../src/index.ts';

const keys = [{ id: '2026', secret: 'a secret of more than 32 bytes, for tests' }];

function shop(options: Partial<Parameters<typeof runtime>[0]> = {}) {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: { summary: () => 'Pay 90 €' },
    execute: () => 'paid',
  });
  const model = scriptedModel([], { defaultResponse: { toolCalls: [{ name: 'pay' }] } });
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk], ...options });
  const waitingIn = async (where: Pick<Runtime, 'run'>) =>
    (await where.run(clerk, 'Pay')).pendingApprovals[0]?.requestId ?? '';
  return { app, waitingIn };
}

const pageOf = async (made: ReturnType<typeof server>, token: string) => {
  const answer = await made.fetch(new Request(`http://localhost/approve/${token}`));
  return { status: answer.status, text: await answer.text() };
};

test('a token of a tenant, made in code, opens the page of the server', async () => {
  const { app, waitingIn } = shop({ approvals: { keys } });
  const tenant = app.tenants.get('acme');
  const token = await tenant.requests.token(await waitingIn(tenant));
  const page = await pageOf(server(app), token);
  expect(page.status).toBe(200);
  expect(page.text).toContain('Pay 90 €');
  await app.close();
});

test('a link that is none says so to people', async () => {
  const { app } = shop({ approvals: { keys } });
  const page = await pageOf(server(app), 'abc');
  expect(page.status).toBe(404);
  expect(page.text).toContain('This link is not valid');
  await app.close();
});

test('links without keys, and keys that are too short, are told with what to give', async () => {
  const { app, waitingIn } = shop();
  const api = server(app);
  await expect(api.link(await waitingIn(app))).rejects.toThrow(/approvals/);
  await app.close();
  expect(() => shop({ approvals: { keys: [{ id: 'k', secret: 'short' }] } })).toThrow(/32/);
  expect(() => shop({ approvals: { key: 'x'.repeat(40) } as never })).toThrow(
    '`approvals` must be an object with `keys`: at least one { id, secret }',
  );
});
