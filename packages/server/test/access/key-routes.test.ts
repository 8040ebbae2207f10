import { describe, expect, test } from 'vitest';
import { ask, world } from './caller.ts';

describe('the routes of keys', () => {
  test('make a key that can do what it was made for, and show it once', async () => {
    const { api, key } = world();
    const as = await key();
    const made = await ask(api, 'POST /v1/keys', {
      as,
      body: { name: 'look', roles: ['viewer'], user: 'ann' },
      headers: { 'idempotency-key': 'once' },
    });
    expect(made).toMatchObject({
      status: 201,
      body: { key: { name: 'look', roles: ['viewer'], user: 'ann', tenant: 'default' } },
    });
    const { credential, key: shown } = made.body;
    expect(made.headers.get('location')).toBe(`/v1/keys/${shown.id}`);
    expect((await ask(api, 'GET /v1/keys', { as: credential })).status).toBe(403);
    const again = await ask(api, 'POST /v1/keys', {
      as,
      body: { name: 'look', roles: ['viewer'], user: 'ann' },
      headers: { 'idempotency-key': 'once' },
    });
    expect(again.status).toBe(409);
    const { text, body } = await ask(api, 'GET /v1/keys', { as });
    expect(body.keys).toHaveLength(2);
    expect(text).not.toContain(credential.split('_')[2]);
  });

  test('rotate and revoke', async () => {
    const { api, key } = world();
    const as = await key();
    const { body: made } = await ask(api, 'POST /v1/keys', {
      as,
      body: { name: 'x', roles: ['admin'] },
    });
    const rotated = await ask(api, `POST /v1/keys/${made.key.id}/rotate`, {
      as,
      body: { graceMs: 0 },
    });
    expect(rotated.status).toBe(200);
    expect((await ask(api, 'GET /v1/keys', { as: made.credential })).status).toBe(401);
    expect((await ask(api, 'GET /v1/keys', { as: rotated.body.credential })).status).toBe(200);
    expect((await ask(api, `DELETE /v1/keys/${made.key.id}`, { as })).status).toBe(200);
    expect((await ask(api, 'GET /v1/keys', { as: rotated.body.credential })).status).toBe(401);
    expect(await ask(api, `POST /v1/keys/${made.key.id}/rotate`, { as, body: {} })).toMatchObject({
      status: 409,
      body: { code: 'api_key_state' },
    });
  });

  test('show and change those of one tenant only', async () => {
    const { api, keys, key } = world();
    const [left, right] = [await key({ tenant: 'left' }), await key({ tenant: 'right' })];
    const [other] = await keys.list({ tenant: 'right' });
    const id = other?.id ?? '';
    const { body } = await ask(api, 'GET /v1/keys', { as: left });
    expect(body.keys).toMatchObject([{ tenant: 'left' }]);
    expect((await ask(api, `DELETE /v1/keys/${id}`, { as: left })).status).toBe(404);
    expect((await ask(api, `POST /v1/keys/${id}/rotate`, { as: left, body: {} })).status).toBe(404);
    expect((await ask(api, 'GET /v1/keys', { as: right })).status).toBe(200);
    expect(
      (
        await ask(api, 'POST /v1/keys', {
          as: left,
          body: { name: 'x', roles: ['viewer'], tenant: 'right' },
        })
      ).status,
    ).toBe(400);
  });

  test('give nobody more than whoever gives it has', async () => {
    const { api, keys, key } = world();
    const as = await key({ user: 'ann', agents: ['clerk', 'cook'] });
    const { key: whole } = await keys.create({ name: 'whole', roles: ['admin'] });
    const make = (more: object) =>
      ask(api, 'POST /v1/keys', { as, body: { name: 'x', roles: ['operator'], ...more } });
    expect((await make({ user: 'bob' })).status).toBe(403);
    expect((await make({ agents: ['clerk', 'boss'] })).status).toBe(403);
    expect(await make({})).toMatchObject({
      status: 201,
      body: { key: { user: 'ann', agents: ['clerk', 'cook'] } },
    });
    expect(await make({ agents: ['cook'] })).toMatchObject({
      status: 201,
      body: { key: { user: 'ann', agents: ['cook'] } },
    });
    expect((await ask(api, `POST /v1/keys/${whole.id}/rotate`, { as, body: {} })).status).toBe(404);
    expect((await ask(api, `DELETE /v1/keys/${whole.id}`, { as })).status).toBe(404);
    expect(
      (await ask(api, 'GET /v1/keys', { as })).body.keys.map(({ name }: { name: string }) => name),
    ).not.toContain('whole');
  });
});
