import { memoryStore } from 'adjutant';
import { eventually, testClock } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { server } from '../../src/index.ts';
import { countingFollowers } from '../changed-store.ts';
import { world } from './caller.ts';

/** Reads a stream to its end. */
async function textOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  return response.text();
}

async function open(
  api: { fetch(request: Request): Promise<Response> },
  as: string,
): Promise<Response> {
  return api.fetch(
    new Request('http://localhost/v1/sessions/one/stream', {
      headers: { authorization: `Bearer ${as}` },
    }),
  );
}

test(
  'a stream ends when the key that it was opened with is revoked, in ' + 'whatever process',
  async () => {
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
  },
);

test('a stream ends when the time of its key is over', async () => {
  const clock = testClock();
  const { app, api, key } = world({ clock });
  await app.sessions.create({ id: 'one' });
  const read = textOf(await open(api, await key({ expiresInMs: 1_000_000 })));
  clock.advance(1_000_000);
  expect(await read).toContain('the credential has ended');
});

test('keys are followed only while somebody is let in by one', async () => {
  const following = { count: 0, most: 0 };
  const { app, api, key } = world({
    store: countingFollowers(memoryStore(), following, ({ app }) => app === 'shop:keys'),
  });
  await app.sessions.create({ id: 'one' });
  const streams = await Promise.all(['a', 'b', 'c'].map(async () => open(api, await key())));
  await eventually(() => following.count === 1);
  for (const { body } of streams) await body?.cancel();
  await eventually(() => following.count === 0);
  expect(following.most).toBe(1);
});
