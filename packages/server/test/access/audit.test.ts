import { memoryStore, runtime, type Store } from 'adjutant';
import { testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AuditEntry } from '../../src/access/audit/audit-entry.ts';
import { AuditLog } from '../../src/access/audit/audit-log.ts';
import { readAudit } from '../../src/access/audit/audit-reader.ts';
import { type AdjutantServer, apiKeys, server } from '../../src/index.ts';
import { changedStore } from '../changed-store.ts';
import { ask, fromAddress, world } from './caller.ts';

const dayMs = 86_400_000;
const newKey = { name: 'secret plan', roles: ['viewer'] };

async function entriesOf(
  api: AdjutantServer,
  as: string,
  query = '',
): Promise<readonly AuditEntry[]> {
  const { status, body } = await ask(api, `GET /v1/audit${query}`, { as });
  expect(status).toBe(200);
  return body.entries;
}

describe('the audit log', () => {
  test(
    'has what was done, by whom, from where and to what; and not what was only ' + 'looked at',
    async () => {
      const { api, keys } = world();
      const { credential: as, key } = await keys.create({ name: 'boss', roles: ['admin'] });
      const made = await ask(api, 'POST /v1/keys', {
        as,
        body: newKey,
        env: fromAddress('192.0.2.7'),
      });
      await ask(api, 'GET /v1/keys', { as });
      await ask(api, `DELETE /v1/keys/${made.body.key.id}`, { as });
      await ask(api, 'DELETE /v1/keys/none', { as });
      await ask(api, 'POST /v1/keys', { as, body: { name: 7 } });
      const who = { principal: `key:${key.id}`, actor: `operator:key:${key.id}`, count: 1 };
      expect(await entriesOf(api, as)).toMatchObject([
        { ...who, action: 'createKey', outcome: 'refused', status: 400, target: {} },
        {
          ...who,
          action: 'revokeKey',
          outcome: 'refused',
          status: 404,
          code: 'api_key_not_found',
          target: { key: 'none' },
        },
        {
          ...who,
          action: 'revokeKey',
          route: 'DELETE /v1/keys/{key}',
          outcome: 'done',
          status: 200,
          target: { key: made.body.key.id },
        },
        {
          ...{
            ...who,
            action: 'createKey',
            route: 'POST /v1/keys',
            outcome: 'done',
            status: 201,
            address: '192.0.2.7',
          },
          ...{
            target: { made: `/v1/keys/${made.body.key.id}` },
            requestId: made.headers.get('x-request-id'),
          },
        },
      ]);
    },
  );

  test('has whoever was denied, and never what they sent', async () => {
    const store = memoryStore();
    const { api, keys, key } = world({ store, limits: { requestsPerMinute: 2 } });
    const admin = await key();
    const { credential: viewer, key: viewing } = await keys.create({
      name: 'looks',
      roles: ['viewer'],
    });
    await ask(api, 'GET /v1/keys', { as: viewer });
    await ask(api, 'POST /v1/keys', { as: viewer, body: newKey });
    await ask(api, 'GET /v1/keys', { as: viewer });
    await ask(api, 'POST /v1/keys?token=hush', {
      as: 'a forged token',
      body: newKey,
      headers: { cookie: 'hush' },
    });
    await ask(api, 'GET /v1/keys', { as: `${admin}0` });
    const entries = await entriesOf(api, admin);
    expect(entries).toMatchObject([
      { principal: 'unknown', action: 'listKeys', status: 401, code: 'unauthenticated' },
      { principal: 'unknown', action: 'createKey', status: 401 },
      { principal: `key:${viewing.id}`, action: 'listKeys', status: 429, code: 'rate_limited' },
      { principal: `key:${viewing.id}`, action: 'createKey', status: 403, code: 'forbidden' },
      { principal: `key:${viewing.id}`, action: 'listKeys', status: 403 },
    ]);
    for (const { outcome } of entries) expect(outcome).toBe('denied');
    const text = JSON.stringify(entries);
    for (const sent of ['secret plan', 'hush', 'forged', admin, viewer])
      expect(text).not.toContain(sent);
  });

  test('has equal denials of a minute as the first and a count of the rest', async () => {
    const clock = testClock();
    const { api, key } = world({ clock, limits: { failuresPerMinute: 1_000 } });
    const as = await key();
    const env = fromAddress('192.0.2.7');
    for (let call = 0; call < 50; call++) await ask(api, 'GET /v1/keys', { env });
    for (let call = 0; call < 5; call++)
      await ask(api, 'GET /v1/keys', { env: fromAddress('192.0.2.8') });
    clock.advance(60_000);
    for (let call = 0; call < 3; call++) await ask(api, 'GET /v1/keys', { env });
    const entries = await entriesOf(api, as);
    expect(await entriesOf(api, as)).toEqual(entries);
    const counts = entries.map(({ address, count }) => [address, count]);
    expect(counts.filter(([address]) => address === '192.0.2.7')).toEqual(
      [2, 1, 49, 1].map((count) => ['192.0.2.7', count]),
    );
    expect(counts.filter(([address]) => address === '192.0.2.8')).toEqual(
      [4, 1].map((count) => ['192.0.2.8', count]),
    );
  });

  test('does not grow with the number of addresses that are denied', async () => {
    const { api, key } = world({ limits: { failuresPerMinute: 100_000 } });
    const as = await key();
    const addresses = Array.from(
      { length: 700 },
      (_, index) => `192.0.${Math.floor(index / 250)}.${index % 250}`,
    );
    for (const address of addresses) await ask(api, 'GET /v1/keys', { env: fromAddress(address) });
    const entries = [
      ...(await entriesOf(api, as, '?limit=500')),
      ...(await entriesOf(api, as, '?limit=500&principal=many')),
    ];
    const many = entries.filter(({ principal }) => principal === 'many');
    expect(entries.length).toBeLessThan(510);
    expect(many.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(200);
  });

  test('of a tenant is for those of the tenant who may read it', async () => {
    const { api, key } = world();
    const [left, right] = [await key({ tenant: 'left' }), await key({ tenant: 'right' })];
    await ask(api, 'POST /v1/keys', { as: left, body: newKey });
    expect(await entriesOf(api, left)).toMatchObject([{ action: 'createKey' }]);
    expect(await entriesOf(api, await key({ tenant: 'left', roles: ['auditor'] }))).toHaveLength(1);
    expect(await entriesOf(api, right)).toEqual([]);
    for (const roles of [['viewer'], ['operator']] as const) {
      expect(
        (await ask(api, 'GET /v1/audit', { as: await key({ tenant: 'left', roles }) })).status,
      ).toBe(403);
    }
    for (const bound of [{ user: 'ann' }, { agents: ['clerk'] }]) {
      expect(
        (await ask(api, 'GET /v1/audit', { as: await key({ tenant: 'left', ...bound }) })).status,
      ).toBe(403);
    }
  });

  test('is of all processes, also of those that have ended', async () => {
    const store = memoryStore();
    const app = runtime({ app: 'shop', store, recover: 'manual' });
    onTestFinished(() => app.close());
    const { credential: as } = await apiKeys(app).create({ name: 'boss', roles: ['admin'] });
    for (let process = 1; process <= 3; process++) {
      const api = server(app, { auth: {} });
      await ask(api, 'POST /v1/keys', { as, body: newKey });
      await ask(api, 'GET /v1/keys');
      await api.close();
    }
    const entries = await entriesOf(server(app, { auth: {} }), as);
    expect(entries.map(({ action }) => action)).toEqual([
      'listKeys',
      'createKey',
      'listKeys',
      'createKey',
      'listKeys',
      'createKey',
    ]);
    expect(new Set(entries.map(({ requestId }) => requestId)).size).toBe(6);
  });

  test('can be asked for parts of it', async () => {
    const clock = testClock(Date.UTC(2026, 0, 31, 23, 59, 30));
    const { api, key } = world({ clock });
    const as = await key();
    const times: number[] = [];
    for (let call = 0; call < 4; call++) {
      times.push(clock.now());
      await ask(api, 'POST /v1/keys', { as, body: newKey });
      clock.advance(20_000);
    }
    await ask(api, 'GET /v1/keys');
    const at = async (query: string): Promise<number[]> =>
      (await entriesOf(api, as, query)).map((entry) => entry.at);
    expect(await at('?action=createKey')).toEqual(times.toReversed());
    expect(await at(`?from=${times[1]}&to=${times[3]}`)).toEqual([times[2], times[1]]);
    expect(await at('?to=2026-02-01T00:00:00Z')).toEqual([times[1], times[0]]);
    expect(await at('?outcome=denied')).toHaveLength(1);
    expect(await at('?principal=unknown')).toHaveLength(1);
    expect(await at('?from=2030-01-01')).toEqual([]);
    expect(await at('?to=1999-01-01')).toEqual([]);
    expect(await at('?from=999999999999999')).toEqual([]);
  });

  test.for([
    '?cursor=nonsense',
    '?cursor=W10',
    '?limit=0',
    '?limit=501',
    '?outcome=odd',
    '?from=yesterday',
    '?unknown=1',
  ])('cannot be asked for %s', async (query) => {
    const { api, key } = world();
    expect((await ask(api, `GET /v1/audit${query}`, { as: await key() })).status).toBe(400);
  });

  test(
    'that cannot be written is told to whoever watches over the server, and ' + 'written later',
    async () => {
      let isDown = false;
      const inner = memoryStore();
      const clock = testClock();
      const errors: unknown[] = [];
      const log = new AuditLog({
        app: 'shop',
        store: failingStore(inner, () => isDown),
        clock,
        ids: { next: nextId() },
        onError: (error) => errors.push(error),
      });
      isDown = true;
      log.record({ tenant: 'default', actor: 'operator', entry: entryAt(clock.now()) });
      await log.flush();
      expect(errors).toMatchObject([{ code: 'audit_unwritten', data: { waiting: 1, lost: 0 } }]);
      isDown = false;
      await log.close();
      const { entries } = await readAudit(inner.for({ tenant: 'default', app: 'shop:audit' }), {
        limit: 10,
      });
      expect(entries).toHaveLength(1);
    },
  );

  test('of many processes and days comes in the right order', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const next = nextId();
    const processes = 450;
    const lasting = new AuditLog({
      app: 'shop',
      store,
      clock,
      ids: { next },
      onError: (error) => expect.unreachable(String(error)),
    });
    for (let process = 0; process < processes; process++) {
      clock.advance(20 * 60_000);
      const log = new AuditLog({
        app: 'shop',
        store,
        clock,
        ids: { next },
        onError: (error) => expect.unreachable(String(error)),
      });
      log.record({ tenant: 'default', actor: 'operator', entry: entryAt(clock.now()) });
      await log.close();
      lasting.record({ tenant: 'default', actor: 'operator', entry: entryAt(clock.now()) });
      await lasting.flush();
    }
    const { entries, next: more } = await readAudit(
      store.for({ tenant: 'default', app: 'shop:audit' }),
      { limit: 2 * processes },
    );
    expect([entries.length, more]).toEqual([2 * processes, undefined]);
    const times = entries.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((left, right) => right - left));
  });

  /**
   * Entries of any days and any processes come back in pages of any size: all of them, each once,
   * newest first.
   */
  test('gives everything in pages', async () => {
    const happening = fc.record({
      process: fc.nat(2),
      after: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 5_000 }),
        fc.integer({ min: 0, max: 3 * dayMs }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        async (happenings, limit) => {
          const clock = testClock();
          const store = memoryStore({ clock });
          const next = nextId();
          const logs = [0, 1, 2].map(
            () =>
              new AuditLog({
                app: 'shop',
                store,
                clock,
                ids: { next },
                onError: (error) => expect.unreachable(String(error)),
              }),
          );
          const written: { at: number; requestId: string }[] = [];
          for (const { process, after } of happenings) {
            clock.advance(after);
            const entry = entryAt(clock.now(), `req_${written.length}`);
            written.push(entry);
            logs[process]?.record({ tenant: 'default', actor: 'operator', entry });
          }
          for (const log of logs) await log.close();
          const read: AuditEntry[] = [];
          let page: Awaited<ReturnType<typeof readAudit>> | undefined;
          do {
            page = await readAudit(store.for({ tenant: 'default', app: 'shop:audit' }), {
              limit,
              after: page?.next,
            });
            read.push(...page.entries);
          } while (page.next !== undefined);
          expect(read.map(({ at }) => at)).toEqual(written.map(({ at }) => at).toReversed());
          expect(new Set(read.map(({ requestId }) => requestId)).size).toBe(written.length);
        },
      ),
      { numRuns: 60 },
    );
  });
});

function nextId(): () => string {
  let count = 0;
  return () => `id${String(++count).padStart(6, '0')}`;
}

function entryAt(at: number, requestId = 'req_1'): Omit<AuditEntry, 'count'> {
  return {
    at,
    principal: 'local',
    actor: 'operator',
    action: 'createKey',
    route: 'POST /v1/keys',
    target: {},
    outcome: 'done',
    status: 201,
    requestId,
  };
}

/** A store that can claim nothing while it is down. */
function failingStore(inner: Store, isDown: () => boolean): Store {
  return changedStore(inner, (ledgers) => ({
    claim: (...args) =>
      isDown() ? Promise.reject(new Error('The disk is full.')) : ledgers.claim(...args),
  }));
}
