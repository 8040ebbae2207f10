import { memoryStore, runtime, type Store, step } from 'adjutant';
import { type Channel, notifications } from 'adjutant/notifications';
import type { LedgerStore } from 'adjutant/store';
import { testClock } from 'adjutant/testing';
import { condition, event, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { noting } from './desk.ts';

/** Code that never ends, whatever its signal says, and the moment at which it is called. */
function hanging() {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const hang = (): Promise<never> => {
    resolve();
    return new Promise<never>(() => undefined);
  };
  return { begun, hang };
}

test('an app closes while a channel hangs; what it sent is unknown', async () => {
  const { begun, hang } = hanging();
  const channel: Channel = { name: 'hanging', idempotent: false, send: hang };
  const store = memoryStore();
  const options = { app: 'desk', notifications: notifications({ channels: [channel] }) };
  const kept = { ...store, close: async () => undefined };
  const app = runtime({ ...options, store: kept, recover: 'auto' });
  await app.notifications.send({ user: 'ann', title: 'One' });
  await begun;
  await app.close();
  const next = runtime({ ...options, store, recover: 'manual' });
  expect((await next.notifications.history('ann'))[0]).toMatchObject({
    decision: 'fail',
    data: { effect: 'unknown' },
  });
  await next.close();
});

test('a channel that hangs holds the notices of its user for five minutes', async () => {
  const { begun, hang } = hanging();
  const sent: string[] = [];
  const channels: Channel[] = [
    { name: 'hanging', idempotent: false, send: hang },
    {
      name: 'mail',
      idempotent: true,
      send: async ({ title }) => {
        sent.push(title);
        return { channel: 'mail' };
      },
    },
  ];
  const clock = testClock(Date.UTC(2026, 0, 5));
  const app = runtime({
    ...{ app: 'desk', store: memoryStore({ clock }), recover: 'manual', ports: { clock } },
    notifications: notifications({ channels }),
  });
  await app.notifications.send({ user: 'ann', title: 'One' });
  const working = app.recovery.resumeStopped();
  await begun;
  clock.advance(300_000);
  await working;
  expect(sent).toEqual(['One']);
  await app.close();
});

test('a notice is not sent by an app that is closing; the next one sends it', async () => {
  const store = memoryStore();
  const sent: string[] = [];
  let isClosing = false;
  const channel: Channel = {
    name: 'pager',
    idempotent: false,
    send: async ({ title }) => {
      sent.push(`${title}${isClosing ? ', late' : ''}`);
      return isClosing ? new Promise<never>(() => undefined) : { channel: 'pager' };
    },
  };
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: goOn, resolve: release } = Promise.withResolvers<void>();
  // Holds the append that comes right before the sending.
  const held = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        if (name !== 'append') return method.bind(target) as unknown;
        return async (...given: Parameters<LedgerStore['append']>) => {
          const [, , { events }] = given;
          const receipt = await target.append(...given);
          if (events.some((one) => one.type === 'decision' && one.decision === 'attempt')) {
            begin();
            await goOn;
          }
          return receipt;
        };
      },
    });
  const options = {
    app: 'desk',
    notifications: notifications({ channels: [channel], retry: { initialDelayMs: 0 } }),
  };
  const kept: Store = { ...store, for: (of) => held(store.for(of)), close: async () => undefined };
  const app = runtime({ ...options, store: kept, recover: 'auto' });
  await app.notifications.send({ user: 'ann', title: 'One' });
  await begun;
  isClosing = true;
  const closed = app.close();
  release();
  await closed;
  expect(sent).toEqual([]);
  isClosing = false;
  const next = runtime({ ...options, store, recover: 'manual' });
  await next.recovery.resumeStopped();
  expect(sent).toEqual(['One']);
  await next.close();
});

test('an app closes while the check of a condition hangs', async () => {
  const { begun, hang } = hanging();
  const app = runtime({
    ...{ app: 'desk', store: memoryStore(), recover: 'auto' },
    triggers: triggers([
      trigger({ name: 'drop', on: condition(hang, { every: '1m' }), start: noting().made }),
    ]),
  });
  await begun;
  await app.close();
});

test('notices of more users than are worked on at once go out without a pause', async () => {
  const users = 65;
  let sent = 0;
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const channel: Channel = {
    name: 'mail',
    idempotent: true,
    send: async () => {
      sent += 1;
      if (sent === users) resolve();
      return { channel: 'mail' };
    },
  };
  // Its time stands still, so that nothing happens because some has passed.
  const clock = testClock(Date.UTC(2026, 0, 5));
  const app = runtime({
    ...{ app: 'desk', store: memoryStore({ clock }), recover: 'auto', ports: { clock } },
    notifications: notifications({ channels: [channel] }),
  });
  const notices = Array.from({ length: users }, (_, i) => ({ user: `user-${i}`, title: 'One' }));
  await Promise.all(notices.map((notice) => app.notifications.send(notice)));
  await all;
  expect(sent).toBe(users);
  await app.close();
});

test('a channel that hangs for many users holds no trigger back', async () => {
  const users = 45;
  let open = 0;
  const { promise: full, resolve: isFull } = Promise.withResolvers<void>();
  const { promise: fired, resolve: fire } = Promise.withResolvers<void>();
  const channel: Channel = {
    name: 'hanging',
    idempotent: true,
    send: () => {
      open += 1;
      if (open === 20) isFull();
      return new Promise<never>(() => undefined);
    },
  };
  const made = step({
    name: 'made',
    execute: (ctx) => {
      fire();
      return ctx.complete('done');
    },
  });
  const clock = testClock(Date.UTC(2026, 0, 5));
  const app = runtime({
    ...{ app: 'desk', store: memoryStore({ clock }), recover: 'auto', ports: { clock } },
    notifications: notifications({ channels: [channel] }),
    triggers: triggers([trigger({ name: 'on-mail', on: event('mail.*'), start: made })]),
  });
  const notices = Array.from({ length: users }, (_, i) => ({ user: `user-${i}`, title: 'One' }));
  await Promise.all(notices.map((notice) => app.notifications.send(notice)));
  await full;
  await app.publish({ type: 'mail.received' });
  await fired;
  // At most those that were taken together with the last free place.
  expect(open).toBeLessThan(40);
  await app.close();
});
