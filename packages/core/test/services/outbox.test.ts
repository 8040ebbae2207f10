import { runtime, step } from 'adjutant';
import { event, every, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, hourMs, noting, work } from './desk.ts';

test('a firing whose task is refused is tried until the next one, and then recorded', async () => {
  const { made, seen } = noting();
  const waiting = step({ name: 'waiting', execute: (ctx) => ctx.complete('done') });
  const hourly = trigger({ name: 'hourly', on: every('1h'), start: made });
  const options = { runnables: [waiting], triggers: triggers([hourly]) };
  // Serves another queue, so that the one of the tasks stays full.
  const elsewhere = { queues: ['other'], admission: { total: 1 } };
  const { app, clock, store } = desk({ ...options, work: elsewhere });
  await work(app);
  const first = await app.submit(waiting, 'x');
  clock.advance(hourMs);
  await work(app);
  expect(await app.triggers.get('hourly')).toMatchObject({ fired: 1, queued: 0 });
  clock.advance(hourMs);
  await work(app);
  const history = await app.triggers.history('hourly');
  const refused = history.filter(({ decision }) => decision === 'refuse');
  expect(refused).toMatchObject([{ data: { reason: 'expired' } }]);
  expect(seen).toEqual([]);
  // A worker of that queue comes: the firing that is still in time is carried out.
  const worker = runtime({ app: 'desk', store, recover: 'manual', ports: { clock }, ...options });
  await work(worker);
  await work(worker);
  expect((await first.info()).state).toBe('completed');
  expect(seen).toHaveLength(1);
  await app.close();
});

test('an event whose task finds the queue full fires when there is a place', async () => {
  const { made, seen } = noting();
  const waiting = step({ name: 'waiting', execute: (ctx) => ctx.complete('done') });
  const onMail = trigger({ name: 'on-mail', on: event('mail.*'), start: made });
  const options = { runnables: [waiting], triggers: triggers([onMail]) };
  const elsewhere = { queues: ['other'], admission: { total: 1 } };
  const { app, clock, store } = desk({ ...options, work: elsewhere });
  await work(app);
  await app.submit(waiting, 'x');
  await app.publish({ type: 'mail.received' });
  await work(app);
  clock.advance(hourMs / 2);
  await work(app);
  expect(seen).toEqual([]);
  const worker = runtime({ app: 'desk', store, recover: 'manual', ports: { clock }, ...options });
  await work(worker);
  await work(worker);
  expect(seen).toHaveLength(1);
  await app.close();
});

test('work whose session is deleted has ended: its trigger does not skip for ever', async () => {
  let started = 0;
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      await ctx.effect('count', () => {
        started += 1;
      });
      await ctx.sleep('long', 100 * hourMs);
      return ctx.complete('done');
    },
  });
  const { app, clock } = desk({
    triggers: triggers([trigger({ name: 'hourly', on: every('1h'), start: slow })]),
  });
  await work(app);
  clock.advance(hourMs);
  await work(app);
  clock.advance(hourMs);
  await work(app);
  expect(started).toBe(1);
  const { open } = await app.triggers.get('hourly');
  await app.sessions.delete(open?.session ?? '');
  await work(app);
  expect((await app.triggers.history('hourly'))[0]).toMatchObject({
    decision: 'end',
    data: { status: 'deleted' },
  });
  clock.advance(hourMs);
  await work(app);
  expect(started).toBe(2);
  await app.close();
});

test.each(['isolated', 'live'] as const)(
  'a fork (%s) publishes nothing, and tells nobody of its end',
  async (shared) => {
    const { made, seen } = noting();
    const order = step({
      name: 'order',
      execute: async (ctx) => {
        await ctx.effect('note', () => 'noted');
        await ctx.publish({ type: 'order.placed' });
        return ctx.complete('placed');
      },
    });
    const { app } = desk({
      runnables: [order],
      triggers: triggers([
        trigger({ name: 'on-order', on: event('order.*'), start: made, overlap: 'queue' }),
      ]),
    });
    await work(app);
    const task = await app.submit(order, 'x');
    await work(app);
    expect(seen).toHaveLength(1);
    let before = 0;
    for await (const one of app.sessions.events(task.session))
      if (one.type === 'decision' && one.decision === 'publish') before = one.seq - 1;
    const fork = await app.sessions.fork(task.session, { at: before, shared });
    expect((await app.resume(fork.id)).output).toBe('placed');
    await work(app);
    expect(seen).toHaveLength(1);
    await app.close();
  },
);

test('a message to a deleted session becomes a dead letter, and the next ones go on', async () => {
  const { made } = noting();
  const { app, clock, store } = desk({
    triggers: triggers([trigger({ name: 'hourly', on: every('1h'), start: made })]),
  });
  await work(app);
  const ledgers = store.for({ tenant: 'default', app: 'desk' });
  const sender = await app.sessions.create({ id: 'sender' });
  await sender.ledger.lease.own();
  const item = (key: string) =>
    ({ key, lane: 'input', by: 'runtime', at: clock.now(), type: 'wake', data: {} }) as const;
  await app.sessions.create({ id: 'receiver' });
  sender.ledger.append([], {
    sends: [
      { to: 'nobody', item: item('one') },
      { to: 'receiver', item: item('two') },
      { to: 'receiver', item: item('three'), expiresAt: clock.now() - 1 },
    ],
  });
  await sender.ledger.release();
  await app.recovery.resumeStopped();
  expect(await ledgers.sends()).toEqual([]);
  expect((await ledgers.inbox('receiver')).map(({ key }) => key)).toEqual(['two']);
  const letters = (await ledgers.inbox('sender')).map(({ data }) => [data['key'], data['reason']]);
  expect(letters).toEqual([
    ['one', 'gone'],
    ['three', 'expired'],
  ]);
  await app.close();
});
