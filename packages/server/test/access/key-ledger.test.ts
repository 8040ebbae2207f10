import { join } from 'node:path';
import { memoryStore, runtime, type Store } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { apiKeys, server } from '../../src/index.ts';
import { changedStore } from '../changed-store.ts';
import { ask, world } from './caller.ts';
import { folder } from './key-folder.ts';

describe('the ledger of keys', () => {
  const place = { tenant: 'adjutant:system', app: 'shop:keys' };

  test('is written by many processes at once', async () => {
    const path = join(folder(), 'keys.db');
    const apps = [1, 2, 3].map(() =>
      runtime({ app: 'shop', store: sqlite(path), recover: 'manual' }),
    );
    await Promise.all(
      apps.flatMap((app, index) =>
        [1, 2, 3, 4].map((part) =>
          apiKeys(app).create({ name: `${index}.${part}`, roles: ['viewer'] }),
        ),
      ),
    );
    const names = (await apiKeys(apps[0] as (typeof apps)[0]).list()).map(({ name }) => name);
    expect(new Set(names).size).toBe(12);
    for (const app of apps) await app.close();
  });

  test('opens nothing any more when something in it cannot be read', async () => {
    const inner = memoryStore();
    let isDamaged = false;
    const store = readingOtherwise(inner, () => isDamaged);
    const { api, key } = world({ store });
    const as = await key();
    expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(200);
    isDamaged = true;
    await key();
    expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(401);
    expect(await inner.for(place).head('api-keys')).toMatchObject({ seq: 2 });
  });

  /**
   * Commands on two keys, and time; after each, what is accepted is what a plain model of keys
   * says.
   */
  test('lets in whom a plain model of keys would', async () => {
    const command = fc.oneof(
      fc.record({ type: fc.constant('create' as const), life: fc.integer({ min: 1, max: 20 }) }),
      fc.record({
        type: fc.constantFrom('revoke' as const, 'rotate' as const),
        which: fc.nat(3),
        graceMs: fc.nat(10),
      }),
      fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 8 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
        const clock = testClock();
        const app = runtime({
          app: 'shop',
          store: memoryStore({ clock }),
          recover: 'manual',
          ports: { clock },
        });
        const api = server(app, {
          auth: {},
          ports: { clock },
          limits: { requestsPerMinute: false, failuresPerMinute: 100_000 },
        });
        const keys = new ApiKeys(app, { clock });
        const ids: string[] = [];
        /** Until when each credential is accepted. */
        const model: { id: string; credential: string; until: number; isLast: boolean }[] = [];
        for (const next of commands) {
          const now = clock.now();
          if (next.type === 'wait') clock.advance(next.ms);
          if (next.type === 'create') {
            const { key, credential } = await keys.create({
              name: 'x',
              roles: ['admin'],
              expiresInMs: next.life,
            });
            ids.push(key.id);
            model.push({ id: key.id, credential, until: now + next.life, isLast: true });
          }
          if (next.type === 'revoke' || next.type === 'rotate') {
            const id = ids[next.which];
            if (id === undefined) continue;
            const own = model.filter((entry) => entry.id === id);
            if (next.type === 'revoke') {
              await keys.revoke(id);
              for (const entry of own) entry.until = 0;
              continue;
            }
            const last = own.find(({ isLast }) => isLast);
            const isOver = (last?.until ?? 0) <= now;
            const rotated = await keys
              .rotate(id, { graceMs: next.graceMs, expiresInMs: 15 })
              .catch(() => undefined);
            expect(rotated === undefined).toBe(isOver);
            if (rotated === undefined) continue;
            for (const entry of own) {
              entry.until = entry.isLast ? Math.min(now + next.graceMs, entry.until) : 0;
              entry.isLast = false;
            }
            model.push({ id, credential: rotated.credential, until: now + 15, isLast: true });
          }
        }
        for (const { credential, until } of model) {
          expect((await ask(api, 'GET /v1/keys', { as: credential })).status).toBe(
            clock.now() < until ? 200 : 401,
          );
        }
        await api.close();
        await app.close();
      }),
      { numRuns: 60 },
    );
  });
});

/** A store whose events after the first come as damaged once `isDamaged` says so. */
function readingOtherwise(inner: Store, isDamaged: () => boolean): Store {
  return changedStore(inner, (ledgers) => ({
    async *readStored(...args) {
      for await (const page of ledgers.readStored(...args)) {
        yield page.map((event) =>
          isDamaged() && event.seq > 1
            ? { type: 'unreadable' as const, seq: event.seq, reason: 'it is damaged' }
            : event,
        );
      }
    },
  }));
}
