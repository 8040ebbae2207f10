import { memoryStore, type Store } from 'adjutant';
import { type Channel, notifications } from 'adjutant/notifications';
import type { LedgerStore } from 'adjutant/store';
import { testClock } from 'adjutant/testing';
import { event, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, noting, work } from './desk.ts';

/** A store that counts the reads of inboxes. */
function countingStore() {
  const clock = testClock(Date.UTC(2026, 0, 5));
  const store = memoryStore({ clock });
  const reads = { count: 0, items: 0 };
  const counted = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        if (name !== 'inbox') return method.bind(target) as unknown;
        return async (session: string) => {
          const entries = await target.inbox(session);
          reads.count += 1;
          reads.items += entries.length;
          return entries;
        };
      },
    });
  const counting: Store = { ...store, for: (scope) => counted(store.for(scope)) };
  return { clock, reads, store: counting };
}

test('thousands of items that wait for a service are read a few times', async () => {
  const { made } = noting();
  const { clock, reads, store } = countingStore();
  const sent: string[] = [];
  const channel: Channel = {
    name: 'mail',
    idempotent: true,
    send: async ({ title }) => {
      sent.push(title);
      return { channel: 'mail' };
    },
  };
  const { app } = desk({
    ...{ store, ports: { clock } },
    notifications: notifications({ channels: [channel] }),
    triggers: triggers([trigger({ name: 'x', on: event('a.*'), start: made, overlap: 'queue' })]),
  });
  await work(app);
  const number = 1_500;
  for (let i = 0; i < number; i++) {
    await app.publish({ type: 'a.b', data: i });
    await app.notifications.send({ user: 'ann', title: `Notice ${i}` });
  }
  await work(app);
  // The first one, ten that waited, and those that have joined the last of them.
  expect(await app.triggers.get('x')).toMatchObject({ fired: 11, queued: 0 });
  expect(sent).toEqual([`${number} notices`]);
  expect(reads.count).toBeLessThan(200);
  expect(reads.items).toBeLessThan(20 * number);
  await app.close();
});
