import { agent, memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { client } from '../../src/client/index.ts';
import { type AdjutantServer, apiKeys, type NewApiKey, server } from '../../src/index.ts';
import { ask } from '../access/caller.ts';

const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
const scribe = agent({ name: 'scribe', model: scriptedModel(() => ({ text: 'Done.' })) });

interface Desk {
  readonly app: Runtime;
  readonly api: AdjutantServer;
  /** Ids of the sessions that a caller with such a key finds. */
  find(text: string, asked?: Partial<NewApiKey>): Promise<readonly string[]>;
}

function desk(store: Store = memoryStore()): Desk {
  const runnables = [clerk, scribe];
  const app = runtime({ app: 'desk', store, runnables, tenants: true, recover: 'manual' });
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  return {
    app,
    api,
    find: async (text, asked = {}) => {
      const named = { name: 'x', roles: ['viewer'] as const, ...asked };
      const { credential: key } = await apiKeys(app).create(named);
      const fetched = (url: string, init: RequestInit): Promise<Response> =>
        api.fetch(new Request(url, init));
      const found: string[] = [];
      const { sessions } = client({ url: 'http://localhost', key, fetch: fetched });
      for await (const { id } of sessions.list({ text, limit: 2 })) found.push(id);
      return found;
    },
  };
}

test('sessions are found by what was said in them, page after page', async () => {
  const { app, find } = desk();
  for (const id of ['a', 'b', 'c', 'd', 'e'])
    await app.run(clerk, { session: id, input: id === 'c' ? 'A letter' : `Parcel ${id}` });
  expect(await find('parcel')).toEqual(['e', 'd', 'b', 'a']);
  expect(await find('letter')).toEqual(['c']);
  expect(await find('nothing')).toEqual([]);
});

test('and only those that the caller may know of', async () => {
  const { app, find } = desk();
  for (const [id, userId, who] of [
    ['ann-clerk', 'ann', clerk],
    ['bob-clerk', 'bob', clerk],
    ['ann-scribe', 'ann', scribe],
  ] as const) {
    await app.sessions.create({ id, userId });
    await app.run(who, { session: id, input: 'parcel' });
  }
  await app.tenants.get('acme').run(clerk, { session: 'acme-1', input: 'parcel' });
  // Sessions of one millisecond are in no order that a caller could know.
  const sorted = async (asked?: Partial<NewApiKey>) => (await find('parcel', asked)).toSorted();
  expect(await sorted()).toEqual(['ann-clerk', 'ann-scribe', 'bob-clerk']);
  expect(await sorted({ user: 'ann' })).toEqual(['ann-clerk', 'ann-scribe']);
  expect(await sorted({ agents: ['clerk'] })).toEqual(['ann-clerk', 'bob-clerk']);
  expect(await find('parcel', { user: 'ann', agents: ['clerk'] })).toEqual(['ann-clerk']);
  expect(await find('parcel', { tenant: 'acme' })).toEqual(['acme-1']);
});

test.for([
  ['', 'text'],
  ['%20%09', 'text'],
  ['x'.repeat(201), 'text'],
  ['a&text=b', 'text'],
])('a search for nothing, for too much or for two things is refused', async ([text, word]) => {
  const { app, api } = desk();
  const { credential: as } = await apiKeys(app).create({ name: 'x', roles: ['viewer'] });
  const answer = await ask(api, `GET /v1/sessions?text=${text}`, { as });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(answer.text).toContain(word);
});

test('an encrypted store refuses the search, and lists all the same', async () => {
  const keys = localKeys({ keys: [{ id: 'k1', key: Buffer.alloc(32, 1) }] });
  const { app, api } = desk(encrypted(memoryStore(), { keys }));
  await app.run(clerk, { session: 'a', input: 'parcel' });
  const { credential: as } = await apiKeys(app).create({ name: 'x', roles: ['viewer'] });
  expect(await ask(api, 'GET /v1/sessions?text=parcel', { as })).toMatchObject({
    status: 409,
    body: { code: 'text_search_unavailable' },
  });
  expect((await ask(api, 'GET /v1/sessions', { as })).body.sessions).toHaveLength(1);
});
