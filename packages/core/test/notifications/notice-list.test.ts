import type { Runtime } from 'adjutant';
import { type Channel, NotificationFailedError, notifications } from 'adjutant/notifications';
import { expect, test } from 'vitest';
import { desk, work } from '../services/desk.ts';

/** A channel that fails with the effect that it is given, if any. */
function channelOf(name: string, effect?: 'none' | 'unknown'): Channel {
  return {
    name,
    idempotent: false,
    send: async () => {
      if (effect === undefined) return { channel: name };
      throw new NotificationFailedError({
        ...{ channel: name, notice: 'n', reason: 'it is away' },
        kind: { status: 'error_permanent', errorType: 'away', effect },
      });
    },
  };
}

async function titles(app: Runtime, query: object = {}): Promise<readonly string[]> {
  return (await app.notifications.list('ann', query)).notices.map(({ title }) => title);
}

test('a list shows each notice of a user with what has become of it', async () => {
  const channels = [channelOf('fax', 'none'), channelOf('mail')];
  const { app, clock } = desk({ notifications: notifications({ channels }) });
  expect(await app.notifications.list('ann')).toEqual({ notices: [] });
  await app.notifications.send({ user: 'ann', title: 'One', id: 'one', urgent: true });
  await work(app);
  await app.notifications.send({ user: 'bob', title: 'For Bob' });
  await app.notifications.send({ user: 'ann', title: 'Two', expiresAt: clock.now() + 1_000 });
  await work(app);
  const at = clock.now();
  expect(await app.notifications.list('ann')).toEqual({
    notices: [
      {
        ...{ id: expect.any(String), user: 'ann', title: 'Two', text: '' },
        ...{ expiresAt: at + 1_000, at, status: 'waiting', attempts: [] },
      },
      {
        ...{ id: 'one', user: 'ann', title: 'One', text: '', urgent: true },
        ...{ at, status: 'sent', settledAt: at },
        attempts: [
          { channel: 'fax', at, outcome: 'failed', error: expect.stringContaining('it is away') },
          { channel: 'mail', at, outcome: 'sent' },
        ],
      },
    ],
  });
  clock.advance(60_000);
  await work(app);
  const { notices } = await app.notifications.list('ann', { limit: 1 });
  expect(notices).toMatchObject([{ title: 'Two', status: 'dropped', reason: 'expired' }]);
  await app.close();
});

test('an attempt that may have arrived is shown as such, and the notice given up', async () => {
  const channels = [channelOf('fax', 'unknown')];
  const { app } = desk({ notifications: notifications({ channels }) });
  await app.notifications.send({ user: 'ann', title: 'One' });
  await work(app);
  const { notices } = await app.notifications.list('ann');
  expect(notices).toMatchObject([
    { status: 'dropped', reason: 'may_have_arrived', attempts: [{ outcome: 'unknown' }] },
  ]);
  await app.close();
});

test('pages go back over sessions that have rolled, and follow what was open there', async () => {
  const quietHours = { from: '22:00', to: '08:00', timeZone: 'UTC' };
  const { app, clock, store } = desk({
    notifications: notifications({ channels: [channelOf('mail')], intervalMs: 0, quietHours }),
  });
  await app.notifications.send({ user: 'ann', title: 'In the morning', id: 'n0' });
  await work(app);
  for (let i = 1; i <= 340; i++) {
    await app.notifications.send({ user: 'ann', title: `Urgent ${i}`, id: `n${i}`, urgent: true });
    await work(app);
  }
  const sessions = await store.for({ tenant: 'default', app: 'desk' }).list();
  expect(sessions.filter(({ id }) => id.startsWith('service:notifier:'))).toHaveLength(2);
  clock.advance(3_600_000);
  await work(app);
  const found: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await app.notifications.list('ann', { limit: 99, cursor });
    found.push(...page.notices);
    ({ cursor } = page);
  } while (cursor !== undefined);
  expect(found).toHaveLength(341);
  expect(found[0]).toMatchObject({ title: 'Urgent 340', status: 'sent' });
  expect(found.at(-1)).toMatchObject({ title: 'In the morning', status: 'sent' });
  expect(new Set(found.map((one) => (one as { id: string }).id)).size).toBe(341);
  expect(await titles(app, { limit: 1 })).toEqual(['Urgent 340']);
  // So does the history, of which each notice has three entries.
  const history = await app.notifications.history('ann', { limit: 2_000 });
  expect(history).toHaveLength(3 * 341);
  expect(history.at(-1)).toMatchObject({ decision: 'accept', data: { notice: { id: 'n0' } } });
  expect(await app.notifications.history('ann', { limit: 50 })).toEqual(history.slice(0, 50));
  await app.close();
});

test('large texts are shown whole', async () => {
  const { app } = desk({ notifications: notifications({ channels: [channelOf('mail')] }) });
  const long = '€'.repeat(10_000);
  const actions = Array.from({ length: 10 }, () => ({
    label: long.slice(0, 200),
    url: `https://desk.example/${'x'.repeat(1_900)}`,
  }));
  await app.notifications.send({ user: 'ann', title: long, text: long, actions });
  await work(app);
  const { notices } = await app.notifications.list('ann');
  expect(notices).toMatchObject([{ title: long, text: long, actions, status: 'sent' }]);
  const [accepted] = (await app.notifications.history('ann')).slice(-1);
  expect(accepted).toMatchObject({ decision: 'accept', data: { notice: { actions } } });
  await app.close();
});

test.each<[string, string, object, string]>([
  ['no user', '', {}, 'invalid_option'],
  ['no page', 'ann', { limit: 0 }, 'invalid_option'],
  ['no text', 'ann', { cursor: 4 }, 'invalid_option'],
  ['another text', 'ann', { cursor: 'next' }, 'invalid_cursor'],
  ['another list', 'ann', { cursor: cursorOf(['x', 1]) }, 'invalid_cursor'],
  ['another user', 'ann', { cursor: cursorOf([7, 1]) }, 'invalid_cursor'],
])('a list by %s is refused', async (_what, user, query, code) => {
  const { app } = desk({ notifications: notifications({ channels: [channelOf('mail')] }) });
  await expect(app.notifications.list(user, query)).rejects.toMatchObject({ code });
  await app.close();
});

function cursorOf(place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}
