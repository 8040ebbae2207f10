import { join } from 'node:path';
import { type Agent, agent, memoryStore, type Runtime, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { client } from '../../src/client/index.ts';
import { type AdjutantServer, apiKeys, type NewApiKey, server } from '../../src/index.ts';
import { ask } from '../access/caller.ts';
import { folder } from '../access/key-folder.ts';
import { type ReadFrame, SseReader } from './sse-reader.ts';

const [clerk, scribe] = ['clerk', 'scribe'].map((name) =>
  agent({ name, model: scriptedModel(() => ({ text: 'Done.' })) }),
) as [Agent, Agent];

interface Office {
  readonly app: Runtime;
  readonly api: AdjutantServer;
  /** Reads the changes up to `begun`, as a caller with such a key. */
  watch(asked?: Partial<NewApiKey>): Promise<SseReader>;
}

function office(store = memoryStore(), options = {}): Office {
  const app = runtime({
    app: 'shop',
    store,
    runnables: [clerk, scribe],
    tenants: true,
    recover: 'manual',
  });
  const api = server(app, { auth: {}, ...options });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const watch = async (asked: Partial<NewApiKey> = {}): Promise<SseReader> => {
    const named = { name: 'test', roles: ['viewer'] as const, ...asked };
    const { credential } = await apiKeys(app).create(named);
    const headers = { authorization: `Bearer ${credential}` };
    const request = new Request('http://localhost/v1/changes', { headers });
    const reader = new SseReader(await api.fetch(request));
    expect(await reader.next()).toEqual({ id: undefined, event: 'begun', data: {} });
    return reader;
  };
  return { app, api, watch };
}

/** Runs the clerk in a session of its own, whose id it gives. */
async function ran(app: Runtime, input: string): Promise<string> {
  return (await app.run(clerk, input)).session.id;
}

const ended = ({ data }: ReadFrame): boolean => data['status'] === 'completed';

describe('changes of sessions', () => {
  test('say which session, up to where and how it is, and nothing of what happened', async () => {
    const { app, watch } = office();
    const reader = await watch();
    const session = await ran(app, 'A secret question');
    const frames = await reader.until(ended);
    const { seq } = (await app.sessions.list({ id: session })).sessions[0] as { seq: number };
    expect(frames.at(-1)).toEqual({
      id: undefined,
      event: 'changed',
      data: { session, seq, status: 'completed', agent: 'clerk', title: 'A secret question' },
    });
    await reader.close();
  });

  test('begin with what changes from now on', async () => {
    const { app, watch } = office();
    await app.run(clerk, 'Before');
    const reader = await watch();
    const session = await ran(app, 'After');
    for (const { data } of await reader.until(ended)) expect(data['session']).toBe(session);
    await reader.close();
  });

  test('of 500 sessions come all, each as one when it changes often', async () => {
    const { app, watch } = office();
    const reader = await watch();
    const ids = Array.from({ length: 500 }, (_, i) => `s${i}`);
    for (const id of ids) await app.sessions.create({ id });
    for (const message of ['One', 'Two'])
      await Promise.all(ids.map((session) => app.run(clerk, { input: message, session })));
    const last = await ran(app, 'The last one');
    const frames = await reader.until(
      ({ data }) => data['session'] === last && data['status'] === 'completed',
    );
    const seqs = new Map(frames.map(({ data }) => [data['session'], data['seq']]));
    const { sessions } = await app.sessions.list({ limit: 1_000 });
    expect(sessions.length).toBe(501);
    for (const { id, seq } of sessions) expect([id, seqs.get(id)]).toEqual([id, seq]);
    const events = sessions.reduce((sum, { seq }) => sum + seq, 0);
    expect(frames.length).toBeLessThan(events / 2);
    await reader.close();
  });

  test('are those that the caller may know of', async () => {
    const { app, watch } = office();
    const acme = app.tenants.get('acme');
    const readers = await Promise.all([
      watch({ tenant: 'acme' }),
      watch({ user: 'ann' }),
      watch({ agents: ['clerk'] }),
      watch({ agents: ['clerk'], user: 'ann' }),
    ]);
    const run = async (at: Runtime, who: Agent, id: string, userId?: string): Promise<void> => {
      const { sessions } = await at.sessions.list({ id });
      if (sessions.length === 0) await at.sessions.create({ id, ...(userId && { userId }) });
      await at.run(who, { input: 'Hi', session: id });
    };
    await run(acme, clerk, 'acme-1');
    await run(app, scribe, 'ann-scribe', 'ann');
    await run(app, clerk, 'bob-clerk', 'bob');
    await run(app, clerk, 'mixed', 'ann');
    await run(app, scribe, 'mixed', 'ann');
    // The last changes of each reader: it has heard all before them.
    await run(acme, clerk, 'last', 'ann');
    await run(app, clerk, 'last', 'ann');
    const told = await Promise.all(
      readers.map(async (reader) => {
        const frames = await reader.until(
          (frame) => frame.data['session'] === 'last' && ended(frame),
        );
        await reader.close();
        return [...new Set(frames.map(({ data }) => data['session']))].sort();
      }),
    );
    expect(told[0]).toEqual(['acme-1', 'last']);
    expect(told[1]).toEqual(['ann-scribe', 'last', 'mixed']);
    // A session is out of reach with its first run of another agent; before, it may be told.
    expect(told[2]?.filter((id) => id !== 'mixed')).toEqual(['bob-clerk', 'last']);
    expect(told[3]?.filter((id) => id !== 'mixed')).toEqual(['last']);
  });

  test('come from other processes, too', async () => {
    const path = join(folder(), 'shop.db');
    const one = office(sqlite(path));
    const two = office(sqlite(path));
    const reader = await two.watch();
    const session = await ran(one.app, 'Hi');
    expect((await reader.until(ended)).at(-1)?.data).toMatchObject({ session });
    await reader.close();
  });

  test('end with the key of the reader', async () => {
    const { app, watch } = office();
    const reader = await watch();
    const [key] = await apiKeys(app).list();
    await apiKeys(app).revoke(key?.id as string);
    await reader.rest();
    expect(reader.comments).toContain('the credential has ended');
  });

  test('count as streams of their reader', async () => {
    const { app, api } = office(memoryStore(), { limits: { streams: 1 } });
    const { credential: as } = await apiKeys(app).create({ name: 'x', roles: ['viewer'] });
    const headers = { authorization: `Bearer ${as}` };
    const open = new Request('http://localhost/v1/changes', { headers });
    const reader = new SseReader(await api.fetch(open));
    expect(await ask(api, 'GET /v1/changes', { as })).toMatchObject({
      status: 429,
      body: { code: 'too_many_streams' },
    });
    await reader.close();
  });

  test('are followed by the client, which says when they begin', async () => {
    const { app, api } = office();
    const { credential: key } = await apiKeys(app).create({ name: 'x', roles: ['viewer'] });
    const page = client({
      ...{ url: 'http://localhost', key },
      fetch: (url, init) => api.fetch(new Request(url, init)),
    });
    const changes = page.sessions.changes();
    expect((await changes.next()).value).toEqual({ type: 'begun' });
    const session = await ran(app, 'Hi');
    expect((await changes.next()).value).toMatchObject({ type: 'changed', session });
    await changes.return?.();
  });
});
