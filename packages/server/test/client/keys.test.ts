import { agent } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { ApiKeys, type NewApiKey } from '../../src/access/api-keys.ts';
import { impatient, serving } from './serving.ts';

/** Serves an app to callers with keys. */
async function guarded() {
  const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
  const { app, url } = await serving({ recover: 'manual', runnables: [clerk] }, { auth: {} });
  const keys = new ApiKeys(app);
  const as = async (roles: NewApiKey['roles']) =>
    impatient(url, { key: (await keys.create({ name: 'test', roles })).credential });
  return { url, as };
}

test('an administrator makes, rotates and revokes keys', async () => {
  const { url, as } = await guarded();
  const { keys } = await as(['admin']);
  const { key, credential } = await keys.create({ name: 'ci', roles: ['viewer'], user: 'ann' });
  expect(key).toMatchObject({ name: 'ci', roles: ['viewer'], user: 'ann', tenant: 'default' });
  expect(await impatient(url, { key: credential }).me()).toMatchObject({ user: 'ann' });
  const rotated = await keys.rotate(key.id, { graceMs: 0 });
  expect(rotated.key).toMatchObject({ id: key.id, rotatedAt: expect.any(Number) });
  expect(rotated.credential).not.toBe(credential);
  await expect(impatient(url, { key: credential }).me()).rejects.toMatchObject({ status: 401 });
  expect(await keys.revoke(key.id)).toMatchObject({ revokedAt: expect.any(Number) });
  const listed = await keys.list();
  expect(listed.map(({ name }) => name)).toEqual(['ci', 'test']);
  expect(listed[0]).toMatchObject({ id: key.id, revokedAt: expect.any(Number) });
  await expect(keys.revoke('none')).rejects.toMatchObject({ code: 'api_key_not_found' });
});

test('keys are refused to those who do not manage, and roles to those who do not have them', async () => {
  const { as } = await guarded();
  const { keys } = await as(['operator']);
  await expect(keys.list()).rejects.toMatchObject({ status: 403 });
  await expect(keys.create({ name: 'x', roles: ['admin'] })).rejects.toMatchObject({ status: 403 });
});

test('an auditor reads who did what, page by page, and filters it', async () => {
  const { as } = await guarded();
  const { keys } = await as(['admin']);
  for (const name of ['a', 'b', 'c']) await keys.create({ name, roles: ['viewer'] });
  const viewer = await as(['viewer']);
  await expect(viewer.keys.list()).rejects.toMatchObject({ status: 403 });
  await expect(viewer.audit.list().page()).rejects.toMatchObject({ status: 403 });
  const { audit } = await as(['auditor']);
  const made: string[] = [];
  for await (const entry of audit.list({ action: 'createKey', limit: 1 })) made.push(entry.outcome);
  expect(made).toEqual(['done', 'done', 'done']);
  const { entries } = await audit.list({ outcome: 'denied', from: 0 }).page();
  expect(new Set(entries.map(({ action }) => action))).toEqual(new Set(['listKeys', 'listAudit']));
  const [first] = entries;
  const own = await audit.list({ principal: first?.principal ?? '' }).page();
  expect(own.entries).toEqual(entries);
  expect((await audit.list({ to: 1 }).page()).entries).toEqual([]);
});
