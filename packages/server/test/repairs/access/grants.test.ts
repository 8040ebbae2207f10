import { agent, memoryStore, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type AuthOptions, apiKeys, type NewApiKey, server } from '../../../src/index.ts';
import { ask } from '../../access/caller.ts';

async function disk(auth: AuthOptions = {}) {
  const wiped: string[] = [];
  const wipe = tool({
    ...{
      name: 'wipe',
      description: 'Wipes',
      schema: z.object({}),
      requiresPermission: ['disk:wipe'],
    },
    execute: () => {
      wiped.push('wiped');
      return 'wiped';
    },
  });
  const model = scriptedModel((prompt) =>
    prompt.at(-1)?.role === 'tool'
      ? { text: 'Done.' }
      : { toolCalls: [{ name: 'wipe', args: {} }] },
  );
  const app = runtime({
    app: 'shop',
    store: memoryStore(),
    runnables: [agent({ name: 'janitor', model, tools: [wipe] })],
    recover: 'manual',
  });
  const api = server(app, { auth });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const key = async (bound: Partial<NewApiKey>) =>
    (await apiKeys(app).create({ name: 'x', roles: ['operator'], ...bound })).credential;
  const run = async (as: string, session: string): Promise<void> => {
    const { body } = await ask(api, `POST /v1/sessions/${session}/runs`, {
      as,
      body: { agent: 'janitor', input: 'Wipe it' },
    });
    await ask(api, `GET ${body.links.run}?wait=10000`, { as });
  };
  return { app, api, key, run, wiped };
}

const permissions = ['disk:wipe'];

describe('A17: what tools require is given by', () => {
  test.for<[string, AuthOptions, Partial<NewApiKey>, boolean]>([
    ['no operator', {}, { roles: ['operator'] }, false],
    ['no operator of an agent', {}, { roles: ['operator'], agents: ['janitor'] }, false],
    ['no auditor who is an operator, too', {}, { roles: ['operator', 'auditor'] }, false],
    ['administrators', {}, { roles: ['admin'] }, true],
    [
      'operators, where the server lets them',
      { grantPermissions: ['operator'] },
      { roles: ['operator'] },
      true,
    ],
    [
      'no administrator, where only operators may',
      { grantPermissions: ['operator'] },
      { roles: ['admin'] },
      false,
    ],
    ['nobody, where nobody may', { grantPermissions: [] }, { roles: ['admin', 'operator'] }, false],
    [
      'nobody who is bound to a user',
      { grantPermissions: ['operator', 'admin'] },
      { roles: ['admin', 'operator'], user: 'ann' },
      false,
    ],
  ])('%s', async ([, auth, bound, mayGrant]) => {
    const { app, api, key, run, wiped } = await disk(auth);
    const as = await key(bound);
    const { status, body } = await ask(api, 'POST /v1/sessions', { as, body: { permissions } });
    expect(status).toBe(mayGrant ? 201 : 403);
    if (!mayGrant) {
      expect(body.code).toBe(bound.user === undefined ? 'may_not_grant' : 'bound_to_user');
      expect((await app.sessions.list()).sessions).toEqual([]);
    }
    await run(
      as,
      mayGrant
        ? body.id
        : (await ask(api, 'POST /v1/sessions', { as, body: { permissions: [] } })).body.id,
    );
    expect(wiped).toEqual(mayGrant ? ['wiped'] : []);
  });
});

test('A17: no run and no fork is asked for with permissions', async () => {
  const { api, key } = await disk();
  const as = await key({ roles: ['admin'] });
  const { body } = await ask(api, 'POST /v1/sessions', { as, body: {} });
  for (const [path, asked] of [
    ['/v1/runs', { agent: 'janitor', input: 'Hi', permissions }],
    [`/v1/sessions/${body.id}/runs`, { agent: 'janitor', input: 'Hi', permissions }],
    [`/v1/sessions/${body.id}/fork`, { permissions }],
  ] as const) {
    expect((await ask(api, `POST ${path}`, { as, body: asked })).status).toBe(400);
  }
});

test('A17: a fork does not bring back what was taken back', async () => {
  const { app, api, key, run, wiped } = await disk();
  const [operator, admin] = await Promise.all([
    key({ roles: ['operator'] }),
    key({ roles: ['admin'] }),
  ]);
  const { body } = await ask(api, 'POST /v1/sessions', { as: admin, body: { permissions } });
  const { seq } = (await app.sessions.list({ id: body.id })).sessions[0] as { seq: number };
  // As long as the session has them, its fork may have them.
  expect(
    (await ask(api, `POST /v1/sessions/${body.id}/fork`, { as: operator, body: { at: seq } }))
      .status,
  ).toBe(201);
  await app.sessions.revoke(body.id, permissions);
  await run(operator, body.id);
  expect(wiped).toEqual([]);
  const refused = await ask(api, `POST /v1/sessions/${body.id}/fork`, {
    as: operator,
    body: { at: seq },
  });
  expect(refused).toMatchObject({ status: 403, body: { code: 'may_not_grant' } });
  const fork = await ask(api, `POST /v1/sessions/${body.id}/fork`, { as: operator });
  await run(operator, fork.body.id);
  expect(wiped).toEqual([]);
  expect(
    (await ask(api, `POST /v1/sessions/${body.id}/fork`, { as: admin, body: { at: seq } })).status,
  ).toBe(201);
});

test.for([true, 'admin', ['viewer'], [1]])(
  'A17: `grantPermissions` cannot be %j',
  async (grantPermissions) => {
    const app = runtime({ app: 'shop', recover: 'manual' });
    expect(() => server(app, { auth: { grantPermissions } as never })).toThrow(
      /`auth\.grantPermissions.*a list of 'operator' and 'admin'/,
    );
  },
);
