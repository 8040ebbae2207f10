import { agent, memoryStore, runtime, step, tool } from 'adjutant';
import {
  type Channel,
  type Notice,
  NotificationFailedError,
  notifications,
} from 'adjutant/notifications';
import { roundModel } from 'adjutant/testing';
import { every, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { desk, hourMs, noting, work } from '../services/desk.ts';

/** A channel that keeps what it is given; `fail` decides what becomes of each sending. */
function keeping(name = 'mail', fail: (count: number) => Error | undefined = () => undefined) {
  const sent: Notice[] = [];
  const keys: string[] = [];
  let count = 0;
  const channel: Channel = {
    name,
    idempotent: true,
    send: async (notice, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      const error = fail(++count);
      if (error !== undefined) throw error;
      sent.push(notice);
      return { channel: name };
    },
  };
  return { channel, keys, sent };
}

const broken = (channel: string) =>
  new NotificationFailedError({
    ...{ channel, notice: 'n', reason: 'it is away' },
    kind: { status: 'error_transient', errorType: 'away', effect: 'none' },
  });

test('a notice is sent at once, and those that come within 30 s are joined', async () => {
  const { channel, sent } = keeping();
  const { app, clock } = desk({ notifications: notifications({ channels: [channel] }) });
  await app.notifications.send({ user: 'ann', title: 'One', id: 'one' });
  await app.notifications.send({ user: 'ann', title: 'One', id: 'one' });
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['One']);
  await app.notifications.send({ user: 'ann', title: 'Two' });
  await app.notifications.send({ user: 'bob', title: 'For Bob' });
  await app.notifications.send({ user: 'ann', title: 'Three' });
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['One', 'For Bob']);
  clock.advance(30_000);
  await work(app);
  expect(sent.at(-1)).toMatchObject({ user: 'ann', title: '2 notices' });
  const history = await app.notifications.history('ann');
  expect(history.map(({ decision }) => decision)).toEqual([
    'send',
    'attempt',
    'accept',
    'accept',
    'send',
    'attempt',
    'accept',
  ]);
  await app.close();
});

test('a channel that fails is tried again under one key, then the next one', async () => {
  const mail = keeping('mail', () => broken('mail'));
  const push = keeping('push');
  const channels = [mail.channel, push.channel];
  const { app, clock } = desk({ notifications: notifications({ channels }) });
  await app.notifications.send({ user: 'ann', title: 'One' });
  for (let tries = 0; tries < 6; tries++) {
    await work(app);
    clock.advance(60_000);
  }
  expect([mail.keys.length, new Set(mail.keys).size]).toEqual([3, 1]);
  expect(push.sent.map(({ title }) => title)).toEqual(['One']);
  await app.close();
});

test('quiet hours hold back what is not urgent', async () => {
  const { channel, sent } = keeping();
  const quietHours = { from: '22:00', to: '08:00', timeZone: 'UTC' };
  const { app, clock } = desk({
    notifications: notifications({ channels: [channel], quietHours }),
  });
  await app.notifications.send({ user: 'ann', title: 'Later' });
  await app.notifications.send({ user: 'ann', title: 'Now', urgent: true });
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['Now']);
  clock.advance(hourMs / 2);
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['Now', 'Later']);
  await app.close();
});

test('quiet hours that cannot be known hold back what is not urgent alone', async () => {
  const { channel, sent } = keeping('mail', (count) => (count === 1 ? broken('mail') : undefined));
  let isBroken = false;
  const quietHours = (): undefined => {
    if (isBroken) throw new Error('the directory of users is away');
  };
  const { app, clock } = desk({
    notifications: notifications({ channels: [channel], quietHours }),
  });
  await app.notifications.send({ user: 'ann', title: 'Tried once' });
  await work(app);
  isBroken = true;
  clock.advance(60_000);
  await app.notifications.send({ user: 'ann', title: 'Later' });
  await app.notifications.send({ user: 'ann', title: 'Now', urgent: true });
  await work(app);
  await app.notifications.send({ user: 'ann', title: 'Soon', urgent: true });
  await work(app);
  clock.advance(30_000);
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['Now', 'Soon']);
  isBroken = false;
  clock.advance(hourMs);
  await work(app);
  clock.advance(hourMs);
  await work(app);
  expect(sent.map(({ title }) => title).sort()).toEqual(['Later', 'Now', 'Soon', 'Tried once']);
  await app.close();
});

test('the end of a task, and of the work of a trigger, is told once', async () => {
  const { channel, sent } = keeping();
  const { made } = noting();
  const failing = step({ name: 'failing', execute: (ctx) => ctx.fail('no paper') });
  const { app, clock } = desk({
    runnables: [made, failing],
    notifications: notifications({ channels: [channel], intervalMs: 0 }),
    triggers: triggers([
      trigger({ name: 'hourly', on: every('1h'), start: made, notify: { user: 'ann' } }),
    ]),
  });
  const task = await app.submit(failing, 'x', {
    name: 'Report',
    onComplete: { user: 'ann', channels: ['mail'] },
  });
  await work(app);
  expect((await task.info()).state).toBe('failed');
  expect(sent).toMatchObject([{ title: '"Report" has failed', about: { run: task.id } }]);
  clock.advance(hourMs);
  await work(app);
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['"Report" has failed', '"hourly" is done']);
  await app.close();
});

test('a request is told to the requester of its task, and not when it is settled', async () => {
  const { channel, sent } = keeping();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    approval: true,
    execute: async () => 'paid',
  });
  const model = roundModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Done' }]);
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const quietHours = { from: '22:00', to: '08:00', timeZone: 'UTC' };
  const { app, clock } = desk({
    runnables: [clerk],
    approvals: {
      keys: [{ id: 'k', secret: 'x'.repeat(32) }],
      url: 'https://desk.example/approve',
    } as never,
    notifications: notifications({ channels: [channel], requests: true, quietHours }),
  });
  await app.submit(clerk, 'Pay', { requester: 'ann' });
  await work(app);
  const [request] = await app.requests.list();
  await app.requests.answer(request?.requestId ?? '', { decision: 'approve', by: 'user:ann' });
  clock.advance(hourMs);
  await work(app);
  expect(sent).toEqual([]);
  expect((await app.notifications.history('ann')).map(({ decision }) => decision)).toContain(
    'drop',
  );
  await app.submit(clerk, 'Pay', { requester: 'ann' });
  await work(app);
  expect(sent).toMatchObject([
    { user: 'ann', actions: [{ label: 'Decide', url: expect.stringContaining('desk.example') }] },
  ]);
  await app.close();
});

/** An agent that asks for the approval of many calls at once. */
function asking(calls: number) {
  const pay = tool({
    ...{ name: 'pay', description: 'Pays', schema: z.object({ n: z.number() }) },
    approval: true,
    execute: () => 'paid',
  });
  const toolCalls = Array.from({ length: calls }, (_, n) => ({ name: 'pay', args: { n } }));
  const model = roundModel([{ toolCalls }, { text: 'Paid.' }]);
  return agent({ name: 'clerk', model, tools: [pay] });
}

test('joined notices of requests have their links; none of many is taken for settled', async () => {
  const { channel, sent } = keeping();
  const requests = 120;
  const clerk = asking(requests);
  const { app } = desk({
    runnables: [clerk],
    approvals: { keys: [{ id: 'k', secret: 'x'.repeat(32) }], url: 'https://desk.example/approve' },
    notifications: notifications({ channels: [channel], requests: true }),
  });
  await app.submit(clerk, 'Pay', { requester: 'ann' });
  await work(app);
  expect(sent).toMatchObject([{ title: `${requests} notices` }]);
  expect(sent[0]?.actions).toHaveLength(10);
  expect(sent[0]?.actions?.[0]).toMatchObject({ label: 'Decide: Somebody has to decide' });
  await app.close();
});

test('a joined notice that expires before the others is left out from then on', async () => {
  const { channel, sent } = keeping('mail', (count) => (count === 1 ? broken('mail') : undefined));
  const { app, clock } = desk({ notifications: notifications({ channels: [channel] }) });
  const expiresAt = clock.now() + 1_000;
  await app.notifications.send({ user: 'ann', title: 'The code is 4711', expiresAt });
  await app.notifications.send({ user: 'ann', title: 'Two' });
  await work(app);
  clock.advance(60_000);
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['Two']);
  await app.close();
});

test('each caller whose submission has joined a task is told its end', async () => {
  const { channel, sent } = keeping();
  const made = step({ name: 'report', execute: (ctx) => ctx.complete('written') });
  const { app } = desk({
    runnables: [made],
    notifications: notifications({ channels: [channel] }),
  });
  for (const user of ['ann', 'bob', 'ann'])
    await app.submit(made, 'x', { coalesceKey: 'one', onComplete: { user } });
  await work(app);
  expect(sent.map(({ user, title }) => `${user}: ${title}`).sort()).toEqual([
    ...['ann: "report" is done', 'bob: "report" is done'],
  ]);
  await app.close();
});

test('an error is told in few words, however long it is', async () => {
  const { channel, sent } = keeping();
  const failing = step({
    name: 'failing',
    execute: () => {
      throw new Error('x'.repeat(50_000));
    },
  });
  const { app } = desk({
    runnables: [failing],
    notifications: notifications({ channels: [channel] }),
  });
  await app.submit(failing, 'x', { onComplete: { user: 'ann' } });
  await work(app);
  expect(sent[0]?.title).toBe('"failing" has failed');
  expect(sent[0]?.text.length).toBeLessThan(1_001);
  await app.close();
});

test('what cannot be sent is refused', async () => {
  const { channel } = keeping();
  const twice = [channel, channel];
  expect(() => notifications({ channels: [] })).toThrow('a list with a channel');
  expect(() => notifications({ channels: twice })).toThrow('two channels have the name "mail"');
  expect(() => notifications({ channels: [channel], every: 1 } as never)).toThrow('every');
  const quietHours = { from: '25:00', to: '08:00', timeZone: 'UTC' };
  expect(() => notifications({ channels: [channel], quietHours })).toThrow();
  const { app } = desk({ notifications: notifications({ channels: [channel] }) });
  const refused: readonly [object, string][] = [
    [{ user: 'ann' }, '`user` and `title`'],
    [{ user: 'ann', title: 'x', channels: ['fax'] }, 'no channel "fax"'],
    [{ user: 'ann', title: 'x'.repeat(20_000) }, '10000 characters'],
    [{ user: 'ann', title: 'x', colour: 'red' }, 'colour'],
  ];
  for (const [notice, reason] of refused)
    await expect(app.notifications.send(notice as never)).rejects.toThrow(reason);
  expect(await app.notifications.history('ann')).toEqual([]);
  await app.close();
  const { made } = noting();
  const without = runtime({ app: 'desk', store: memoryStore(), recover: 'manual' });
  await expect(without.submit(made, 'x', { onComplete: { user: 'ann' } })).rejects.toThrow(
    '`onComplete` needs the option `notifications`',
  );
  // Nobody would ever be told.
  const notify = { user: 'ann' };
  const told = trigger({ name: 'hourly', on: every('1h'), start: made, notify });
  const options = { app: 'desk', store: memoryStore(), recover: 'manual' } as const;
  expect(() => runtime({ ...options, triggers: triggers([told]) })).toThrow('`notify` needs');
  const other = runtime({
    ...{ ...options, runnables: [made], triggers: triggers() },
    notifications: notifications({ channels: [channel] }),
  });
  const onComplete = { user: 'ann', channels: ['fax'] };
  await expect(other.submit(made, 'x', { onComplete })).rejects.toThrow('no channel "fax"');
  const byFax = { name: 'a', on: every('1h'), start: 'note', notify: onComplete };
  await expect(other.triggers.create(byFax)).rejects.toThrow('no channel "fax"');
  await other.close();
  await without.close();
});

test('a sending that waits holds nothing urgent back, and keeps its attempts', async () => {
  const { channel, keys, sent } = keeping('mail', (count) =>
    count === 1 ? broken('mail') : undefined,
  );
  const quietHours = { from: '07:31', to: '12:00', timeZone: 'UTC' };
  const { app, clock } = desk({
    notifications: notifications({ channels: [channel], quietHours }),
  });
  await app.notifications.send({ user: 'ann', title: 'Later' });
  await work(app);
  clock.advance(60_000);
  await app.notifications.send({ user: 'ann', title: 'Now', urgent: true });
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['Now']);
  clock.advance(5 * hourMs);
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['Now', 'Later']);
  // The second attempt has the key of the first one.
  expect(keys.indexOf(keys.at(-1) ?? '')).toBe(0);
  await app.close();
});

test.each([
  ['actions that are no list', { actions: { label: 'Open', url: 'https://a.example' } }],
  ['an action that is nothing', { actions: [null] }],
  ['an action without an address', { actions: [{ label: 'Open', url: 'javascript:alert(1)' }] }],
  ['a reference that is a text', { about: 'session-1' }],
  ['a reference without a session', { about: { run: 'r1' } }],
  ['a session that is a number', { about: { session: 5 } }],
])('a notice with %s is refused, and holds back no other', async (_, given) => {
  const { channel, sent } = keeping();
  const { app } = desk({ notifications: notifications({ channels: [channel], intervalMs: 0 }) });
  const wrong = { user: 'ann', title: 'Wrong', ...(given as object) };
  await expect(app.notifications.send(wrong)).rejects.toMatchObject({ code: 'invalid_option' });
  await app.notifications.send({ user: 'ann', title: 'Right' });
  await work(app);
  expect(sent.map(({ title }) => title)).toEqual(['Right']);
  await app.close();
});
