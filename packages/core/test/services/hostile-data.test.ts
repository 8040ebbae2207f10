import { createHmac, randomBytes } from 'node:crypto';
import { type Channel, notifications } from 'adjutant/notifications';
import { type ConditionFinding, condition, trigger, triggers, webhook } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, noting, work } from './desk.ts';

const secret = `whsec_${randomBytes(24).toString('base64')}`;

/** A delivery as a sender signs it. */
function signed(id: string, text: string, at: number) {
  const timestamp = String(Math.floor(at / 1_000));
  const body = new TextEncoder().encode(text);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const hash = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hash.digest('base64')}`,
  };
  return { body, headers };
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['a value with too many levels', nested(100_000)],
  ['a number that is too large', '1e999'],
  ['no JSON', '{'],
])('a webhook with %s is taken as text, and the next one fires', async (_name, text) => {
  const { made, seen } = noting();
  const { app, clock } = desk({
    triggers: triggers([
      trigger({ name: 'hook', on: webhook({ secret }), start: made, overlap: 'queue' }),
    ]),
  });
  await work(app);
  await app.triggers.receive('hook', signed('one', text, clock.now()));
  await app.triggers.receive('hook', signed('two', '{"n":2}', clock.now()));
  await work(app);
  expect(seen.map(({ about }) => about)).toEqual([{ body: text }, { body: { n: 2 } }]);
  await app.close();
});

test('an event whose data have too many levels is refused', async () => {
  const { app } = desk();
  const data = JSON.parse(nested(20_000)) as [];
  await expect(app.publish({ type: 'a.b', data })).rejects.toMatchObject({
    code: 'invalid_bus_event',
  });
  await app.close();
});

const circle: { self?: unknown } = {};
circle.self = circle;

test.each([
  ['sees a circle', () => ({ met: true, saw: circle }), '`saw` is no JSON'],
  ['sees a BigInt', () => ({ met: true, saw: 1n }), '`saw` is no JSON'],
  [
    'throws what has no message',
    () => {
      throw Object.create(null);
    },
    'no message',
  ],
])('a check that %s has failed, and is made again', async (_name, check, message) => {
  const { made, seen } = noting();
  const findings = [check as () => ConditionFinding, () => true];
  const { app, clock } = desk({
    triggers: triggers([
      trigger({
        name: 'drop',
        on: condition(() => (findings.shift() as () => ConditionFinding)(), { every: '1m' }),
        start: made,
      }),
    ]),
  });
  await work(app);
  expect((await app.triggers.history('drop'))[0]).toMatchObject({
    decision: 'check',
    data: { failed: expect.stringContaining(message) },
  });
  clock.advance(60_000);
  await work(app);
  expect(seen).toHaveLength(1);
  await app.close();
});

test.each([
  ['nothing', undefined],
  ['an id that is no text', { channel: 'own', messageId: 1n }],
])('a channel that answers with %s has taken the notice', async (_name, receipt) => {
  let sent = 0;
  const send = async (): Promise<unknown> => {
    sent += 1;
    return receipt;
  };
  const channel = { name: 'own', idempotent: true, send } as unknown as Channel;
  const { app } = desk({ notifications: notifications({ channels: [channel] }) });
  await app.notifications.send({ user: 'ann', title: 'One' });
  await work(app);
  expect(sent).toBe(1);
  expect((await app.notifications.history('ann'))[0]).toMatchObject({ decision: 'send' });
  await app.close();
});

test('a notice that names no channel is refused when it is given', async () => {
  const { made } = noting();
  const channel: Channel = {
    name: 'mail',
    idempotent: true,
    send: async () => ({ channel: 'mail' }),
  };
  const { app } = desk({
    runnables: [made],
    notifications: notifications({ channels: [channel] }),
    triggers: triggers(),
  });
  const none = { user: 'ann', channels: [] };
  const refused = { message: expect.stringContaining('channels') };
  await expect(app.notifications.send({ ...none, title: 'x' })).rejects.toMatchObject(refused);
  await expect(app.submit(made, 'x', { onComplete: none })).rejects.toMatchObject(refused);
  const on = { kind: 'every', everyMs: 60_000, jitterMs: 0 } as const;
  const create = app.triggers.create({ name: 'x', on, start: 'note', notify: none });
  await expect(create).rejects.toMatchObject(refused);
  await app.close();
});
