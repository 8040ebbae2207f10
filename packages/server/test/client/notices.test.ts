import { memoryStore } from 'adjutant';
import { noticeHub, notifications, streamChannel } from 'adjutant/notifications';
import { expect, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import type { AdjutantClient, FollowedNotice } from '../../src/client/index.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { impatient, serving } from './serving.ts';

/** An app whose notices go to open pages, its server, and clients of its operator and its users. */
async function desk() {
  const hub = noticeHub();
  const { app, listening, url } = await serving(
    {
      store: memoryStore(),
      recover: 'manual',
      notifications: notifications({ channels: [streamChannel(hub)], intervalMs: 0 }),
    },
    { auth: {}, notices: hub },
  );
  const keys = new ApiKeys(app);
  const clientOf = async (bound: object, options: object = {}): Promise<AdjutantClient> => {
    const { credential } = await keys.create({ name: 'test', roles: ['operator'], ...bound });
    return impatient(url, { key: credential, ...options });
  };
  return { app, clientOf, listening };
}

test('a client sends notices, and lists them page after page', async () => {
  const { app, clientOf } = await desk();
  const operator = await clientOf({});
  for (const id of ['one', 'two', 'three']) {
    const notice = { user: 'ann', title: id, id };
    expect(await operator.notices.send(notice)).toEqual({ id });
    expect(await operator.notices.send(notice)).toEqual({ id });
  }
  await app.recovery.resumeStopped();
  const { notices } = await clientOf({ user: 'ann' });
  const listed: string[] = [];
  for await (const { id, status } of notices.list({ limit: 2 })) listed.push(`${id} ${status}`);
  expect(listed).toEqual(['three dropped', 'two dropped', 'one dropped']);
  const page = await operator.notices.list({ user: 'ann', limit: 1 }).page();
  expect(page).toMatchObject({ notices: [{ id: 'three' }], cursor: expect.any(String) });
  await expect(operator.notices.list().page()).rejects.toMatchObject({ code: 'user_needed' });
  await expect(notices.list({ user: 'bob' }).page()).rejects.toMatchObject({ code: 'other_user' });
  await expect(operator.notices.send({ user: 'ann', title: '' })).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

test('a client follows the notices of its user, also over a lost connection', async () => {
  const { app, clientOf, listening } = await desk();
  const proxy = await cuttingProxy({ target: () => listening.port, cutAfter: () => undefined });
  let opened = Promise.withResolvers<void>();
  const ann = await clientOf(
    { user: 'ann' },
    {
      url: proxy.url,
      fetch: async (url: string, options: RequestInit) => {
        const response = await fetch(url, options);
        if (url.endsWith('/stream')) opened.resolve();
        return response;
      },
    },
  );
  const following = ann.notices.follow();
  const seen: FollowedNotice[] = [];
  for (const title of ['Rain', 'Sun']) {
    const next = following.next();
    await opened.promise;
    await app.notifications.send({ user: 'bob', title: 'For Bob' });
    await app.notifications.send({
      user: 'ann',
      title,
      actions: [{ label: 'x', url: 'https://x' }],
    });
    await app.recovery.resumeStopped();
    seen.push((await next).value);
    opened = Promise.withResolvers<void>();
    proxy.cut();
  }
  expect(seen).toMatchObject([{ title: 'Rain', user: 'ann' }, { title: 'Sun' }]);
  expect(seen[0]).not.toHaveProperty('tenant');
  await following.return?.();
  const operator = await clientOf({});
  await expect(operator.notices.follow().next()).rejects.toMatchObject({ code: 'user_needed' });
});
