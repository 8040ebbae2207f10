import { step } from 'adjutant';
import { condition, event, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, noting, work } from './desk.ts';

test('a session of a service that has become long is followed by another one', async () => {
  const { made, seen } = noting();
  let isCheap = false;
  const { app, clock, store } = desk({
    triggers: triggers([
      trigger({ name: 'drop', on: condition(() => isCheap, { every: '1m' }), start: made }),
    ]),
  });
  await work(app);
  for (let checks = 0; checks < 1_010; checks++) {
    clock.advance(60_000);
    await app.recovery.resumeStopped();
  }
  isCheap = true;
  clock.advance(60_000);
  await work(app);
  expect(seen).toHaveLength(1);
  // The state went along, and an operator finds the newest session by the name.
  expect(await app.triggers.get('drop')).toMatchObject({ revision: 1, fired: 1, status: 'active' });
  await app.triggers.pause('drop');
  await work(app);
  const history = await app.triggers.history('drop');
  expect(history.map(({ decision }) => decision).slice(0, 3)).toEqual(['pause', 'end', 'fire']);
  // The history goes on into the session before.
  expect(history).toHaveLength(100);
  const whole = await app.triggers.history('drop', { limit: 5_000 });
  expect(whole.slice(0, 100)).toEqual(history);
  expect(whole.filter(({ decision }) => decision === 'check')).toHaveLength(1_012);
  expect(whole.at(-1)).toMatchObject({ decision: 'declare' });
  expect(whole.map(({ at }) => at)).toEqual(whole.map(({ at }) => at).sort((a, b) => b - a));
  const sessions = await store.for({ tenant: 'default', app: 'desk' }).list();
  expect(sessions.filter(({ id }) => id.startsWith('service:trigger:'))).toHaveLength(2);
  await app.close();
});

test('what is sent to a session that has rolled is passed on, once', async () => {
  const { made, seen } = noting();
  const publishing = step({
    name: 'publishing',
    execute: async (ctx) => {
      // Goes to the first session of the topic, whatever follows it.
      await ctx.publish({ type: 'mail.received', data: 'from a step' });
      return ctx.complete('published');
    },
  });
  const { app } = desk({
    runnables: [publishing],
    triggers: triggers([
      trigger({ name: 'on-mail', on: event('mail.received'), start: made, overlap: 'queue' }),
    ]),
  });
  await work(app);
  await app.publish({ type: 'mail.received', data: 'early', id: 'early' });
  await work(app);
  for (let i = 0; i < 1_005; i++) await app.publish({ type: 'mail.noise' });
  await work(app);
  await app.publish({ type: 'mail.received', data: 'from outside', id: 'one' });
  await app.submit(publishing, 'x');
  await work(app);
  // Known from before the session rolled, and from after it.
  await app.publish({ type: 'mail.received', data: 'early', id: 'early' });
  await app.publish({ type: 'mail.received', data: 'from outside', id: 'one' });
  await work(app);
  expect(seen.map(({ about }) => about?.['data']).sort()).toEqual([
    ...['early', 'from a step', 'from outside'],
  ]);
  await app.close();
});

test('a trigger that has rolled and was changed no longer fires on the old events', async () => {
  const { made, seen } = noting();
  const { app, store } = desk({ runnables: [made], triggers: triggers() });
  const on = { start: 'note', overlap: 'queue', mostPerHour: 5_000 } as const;
  await app.triggers.create({ ...on, name: 'follower', on: event('old.*') });
  for (let i = 0; i < 900; i++) {
    await app.publish({ type: 'old.news' });
    if (i % 50 === 49) await work(app);
  }
  const fired = seen.length;
  const sessions = await store.for({ tenant: 'default', app: 'desk' }).list({ limit: 5_000 });
  expect(sessions.filter(({ id }) => id.startsWith('service:trigger:'))).toHaveLength(2);
  await app.triggers.update('follower', { on: event('new.*') });
  await app.publish({ type: 'old.news' });
  await app.publish({ type: 'new.news', data: 'last' });
  await work(app);
  expect(seen.slice(fired).map(({ about }) => about?.['data'])).toEqual(['last']);
  await app.close();
});
