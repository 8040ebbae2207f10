import { memoryStore, type Store } from 'adjutant';
import { eventually, testClock } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { server } from '../../src/index.ts';
import { world } from './caller.ts';

/** Reads a stream to its end. */
async function textOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  return response.text();
}

async function open(api: { fetch(request: Request): Promise<Response> }, as: string): Promise<Response> {
  return api.fetch(new Request('http://localhost/v1/sessions/one/stream', { headers: { authorization: `Bearer ${as}` } }));
}

test('a stream ends when the key that it was opened with is revoked, in whatever process', async () => {
  const store = memoryStore();
  const { app, keys, key } = world({ store });
  await app.sessions.create({ id: 'one' });
  const { credential, key: made } = await keys.create({ name: 'x', roles: ['viewer'] });
  const other = server(app, { auth: {} });
  onTestFinished(() => other.close());
  const mine = await open(other, credential);
  const others = await open(other, await key());
  const read = textOf(mine);
  await keys.rotate(made.id);
  await keys.revoke(made.id);
  expect(await read).toContain('the credential has ended');
  await others.body?.cancel();
});

test('a stream ends when the time of its key is over', async () => {
  const clock = testClock();
  const { app, api, key } = world({ clock });
  await app.sessions.create({ id: 'one' });
  const read = textOf(await open(api, await key({ expiresIn: 1_000_000 })));
  clock.advance(1_000_000);
  expect(await read).toContain('the credential has ended');
});

test('keys are followed only while somebody is let in by one', async () => {
  const following = { count: 0, most: 0 };
  const { app, api, key } = world({ store: countingFollowers(memoryStore(), following) });
  await app.sessions.create({ id: 'one' });
  const streams = await Promise.all(['a', 'b', 'c'].map(async () => open(api, await key())));
  await eventually(() => following.count === 1);
  for (const { body } of streams) await body?.cancel();
  await eventually(() => following.count === 0);
  expect(following.most).toBe(1);
});

/** Counts who follows the ledger of keys. */
function countingFollowers(inner: Store, following: { count: number; most: number }): Store {
  return {
    description: 'counting',
    admin: inner.admin,
    close: () => inner.close(),
    for(scope) {
      const ledgers = inner.for(scope);
      return new Proxy(ledgers, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (name !== 'follow' || scope.app !== 'shop:keys') return typeof value === 'function' ? value.bind(target) : value;
          return async function* (...args: Parameters<typeof target.follow>) {
            following.count += 1;
            following.most = Math.max(following.most, following.count);
            try {
              yield* target.follow(...args);
            } finally {
              following.count -= 1;
            }
          };
        },
      });
    },
  };
}
