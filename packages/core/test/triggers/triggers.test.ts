import { step } from 'adjutant';
import { consoleChannel, notifications } from 'adjutant/notifications';
import {
  at,
  condition,
  cron,
  event,
  every,
  signWebhook,
  type TriggerContext,
  trigger,
  triggers,
  webhook,
} from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, hourMs, noting, work } from '../services/desk.ts';

test('a cron trigger starts a task at its instant, once, and says when it fires next', async () => {
  const { made, seen } = noting();
  const morning = trigger({
    name: 'morning',
    on: cron('0 8 * * 1-5', { timeZone: 'UTC' }),
    start: made,
    input: 'Read the mail',
  });
  const { app, clock } = desk({ triggers: triggers([morning]) });
  await work(app);
  expect(seen).toEqual([]);
  expect(await app.triggers.get('morning')).toMatchObject({
    status: 'active',
    nextAt: Date.UTC(2026, 0, 5, 8),
    fired: 0,
  });
  clock.advance(hourMs / 2);
  await work(app);
  await work(app);
  expect(seen).toEqual([
    {
      trigger: 'morning',
      kind: 'schedule',
      instant: Date.UTC(2026, 0, 5, 8),
      instruction: 'Read the mail',
    },
  ]);
  expect(await app.triggers.get('morning')).toMatchObject({
    nextAt: Date.UTC(2026, 0, 6, 8),
    fired: 1,
    failed: 0,
    last: { status: 'completed' },
  });
  const history = await app.triggers.history('morning');
  expect(history.map(({ decision }) => decision)).toEqual(['end', 'fire', 'declare']);
  const [task] = await app.tasks.list({ states: ['completed'] });
  expect(task).toMatchObject({ name: 'morning', priority: 'low', source: 'cron' });
  await app.close();
});

test('an event fires the triggers whose pattern and filter it fits, once for each id', async () => {
  const { made, seen } = noting();
  const options = { start: made, overlap: 'queue' as const };
  const all = trigger({ ...options, name: 'all', on: event('mail.*') });
  const ofAnn = trigger({
    ...options,
    name: 'of-ann',
    on: event('mail.received', ({ data }) => (data as { from?: string }).from === 'ann'),
  });
  const { app } = desk({ triggers: triggers([all, ofAnn]) });
  await work(app);
  await app.publish({ type: 'mail.received', data: { from: 'ann' }, id: 'mail-1' });
  await app.publish({ type: 'mail.received', data: { from: 'ann' }, id: 'mail-1' });
  await app.publish({ type: 'mail.received', data: { from: 'bob' }, id: 'mail-2' });
  await app.publish({ type: 'invoice.paid', data: {} });
  await work(app);
  expect(seen.map(({ about, trigger: name }) => [name, about?.['data']]).sort()).toEqual([
    ['all', { from: 'ann' }],
    ['all', { from: 'bob' }],
    ['of-ann', { from: 'ann' }],
  ]);
  await app.close();
});

test('a condition fires when it comes true, and records what it saw', async () => {
  const { made, seen } = noting();
  let price = 120;
  const drop = trigger({
    name: 'drop',
    on: condition(() => ({ met: price < 100, saw: price }), { every: '5m' }),
    start: made,
  });
  const { app, clock } = desk({ triggers: triggers([drop]) });
  await work(app);
  for (const next of [90, 80, 130, 70]) {
    price = next;
    clock.advance(300_000);
    await work(app);
  }
  expect(seen.map(({ about }) => about?.['saw'])).toEqual([90, 70]);
  const checks = (await app.triggers.history('drop')).filter((one) => one.decision === 'check');
  expect(checks.map(({ data }) => (data as { saw: number }).saw)).toEqual([70, 130, 80, 90, 120]);
  await app.close();
});

test('a trigger is made by data, changed, paused, resumed, fired and deleted', async () => {
  const { made, seen } = noting();
  const { app, clock } = desk({ runnables: [made], triggers: triggers() });
  const info = await app.triggers.create({ name: 'tidy', on: every('1h'), start: 'note' });
  expect(info).toMatchObject({ name: 'tidy', status: 'active', revision: 1 });
  clock.advance(hourMs);
  await work(app);
  expect(seen).toHaveLength(1);
  await app.triggers.pause('tidy', { by: 'user:ann', reason: 'Holidays' });
  await work(app);
  clock.advance(5 * hourMs);
  await work(app);
  expect([seen.length, (await app.triggers.get('tidy')).status]).toEqual([1, 'paused']);
  await app.triggers.resume('tidy');
  await work(app);
  expect(seen).toHaveLength(1);
  await app.triggers.fire('tidy', { key: 'now', by: 'user:ann', reason: 'Guests come.' });
  await app.triggers.fire('tidy', { key: 'now' });
  expect((await app.triggers.history('tidy'))[0]).toMatchObject({
    ...{ decision: 'fire', by: 'user:ann' },
    reasoning: expect.stringMatching(
      /^The trigger fires \(manual\) for .*\. Reason: Guests come\.$/,
    ),
  });
  await work(app);
  expect(seen.map(({ kind }) => kind)).toEqual(['schedule', 'manual']);
  const changed = await app.triggers.update('tidy', { on: every('1m') });
  expect(changed).toMatchObject({ revision: 2, on: { everyMs: 60_000 } });
  await work(app);
  expect(seen).toHaveLength(2);
  await app.triggers.delete('tidy');
  await work(app);
  expect(await app.triggers.list()).toEqual([]);
  clock.advance(hourMs);
  await work(app);
  expect(seen).toHaveLength(2);
  const again = await app.triggers.create({ name: 'tidy', on: every('1h'), start: 'note' });
  expect(again).toMatchObject({ status: 'active', revision: 1, fired: 0 });
  clock.advance(hourMs);
  await work(app);
  expect(seen).toHaveLength(3);
  await app.close();
});

test('a change back is a revision too, and a trigger can change what it fires on', async () => {
  const { made } = noting();
  const { app } = desk({
    runnables: [made],
    triggers: triggers(),
    notifications: notifications({ channels: [consoleChannel()] }),
  });
  const options = { requester: 'ann', priority: 'high', notify: { user: 'ann' } } as const;
  await app.triggers.create({ name: 'tidy', on: every('1h'), start: 'note', ...options });
  await app.triggers.create({ name: 'other', on: every('1h'), start: 'note', requester: 'bob' });
  await app.triggers.update('tidy', { on: every('1m') });
  expect(await app.triggers.update('tidy', { on: every('1h') })).toMatchObject({
    ...options,
    revision: 3,
    on: { everyMs: hourMs },
  });
  await app.triggers.update('tidy', { on: event('mail.*') });
  expect(await app.triggers.update('tidy', { input: 'Read it' })).toMatchObject({
    revision: 5,
    on: { kind: 'event', pattern: 'mail.*' },
    input: 'Read it',
  });
  expect(await app.triggers.update('tidy', { input: 'Read it' })).toMatchObject({ revision: 5 });
  const ofAnn = await app.triggers.list({ requester: 'ann' });
  expect(ofAnn.map(({ name }) => name)).toEqual(['tidy']);
  await app.close();
});

test('a firing while earlier work goes on is skipped, or waits, by the overlap', async () => {
  const seen: string[] = [];
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      const { trigger: name } = (ctx.input as { data: TriggerContext }).data;
      await ctx.effect('note', () => {
        seen.push(name);
      });
      await ctx.sleep('work', 90 * 60_000);
      return ctx.complete('done');
    },
  });
  const options = { on: every('1h'), start: slow } as const;
  const { app, clock } = desk({
    triggers: triggers([
      trigger({ ...options, name: 'skips' }),
      trigger({ ...options, name: 'waits', overlap: 'queue' }),
    ]),
  });
  await work(app);
  for (let hour = 0; hour < 4; hour++) {
    clock.advance(hourMs / 2);
    await work(app);
    clock.advance(hourMs / 2);
    await work(app);
  }
  expect(seen.filter((name) => name === 'skips')).toHaveLength(2);
  const history = await app.triggers.history('waits');
  expect(history.filter(({ decision }) => decision === 'queue').length).toBeGreaterThan(0);
  expect((await app.triggers.history('skips')).some((one) => one.decision === 'skip')).toBe(true);
  await app.close();
});

test('a step publishes an event once, and a cycle of triggers ends', async () => {
  const started: string[] = [];
  const passing = (name: string, type: string) =>
    step({
      name,
      execute: async (ctx) => {
        await ctx.effect('note', () => {
          started.push(name);
        });
        await ctx.publish({ type, data: { from: name } });
        // The body runs again from its beginning.
        await ctx.sleep('pause', hourMs);
        return ctx.complete('passed');
      },
    });
  const [ping, pong] = [passing('ping', 'game.pong'), passing('pong', 'game.ping')];
  const { app, clock } = desk({
    triggers: triggers([
      trigger({ name: 'on-ping', on: event('game.ping'), start: ping, overlap: 'queue' }),
      trigger({ name: 'on-pong', on: event('game.pong'), start: pong, overlap: 'queue' }),
    ]),
  });
  await work(app);
  await app.publish({ type: 'game.ping' });
  for (let turns = 0; turns < 6; turns++) {
    await work(app);
    clock.advance(hourMs);
  }
  expect(started).toEqual(['ping', 'pong']);
  const [refused] = await app.triggers.history('on-ping', { limit: 1 });
  expect(refused).toMatchObject({
    decision: 'refuse',
    data: { reason: 'cycle', chain: ['trigger:on-ping', 'trigger:on-pong', 'trigger:on-ping'] },
  });
  await app.close();
});

test('a signed delivery fires once; a forged one, and one with its id, are refused', async () => {
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
  const { made, seen } = noting();
  const paid = trigger({ name: 'paid', on: webhook({ secret }), start: made, overlap: 'queue' });
  const { app, clock } = desk({ triggers: triggers([paid]) });
  await work(app);
  const delivery = (text: string, id = 'msg_1', key: string = secret) => {
    const body = new TextEncoder().encode(text);
    const headers = signWebhook({ id, timestamp: clock.now(), body, secret: key });
    return { headers: { ...headers }, body };
  };
  expect(await app.triggers.receive('paid', delivery('{"sum":7}'))).toEqual({ duplicate: false });
  expect(await app.triggers.receive('paid', delivery('{"sum":7}'))).toEqual({ duplicate: true });
  await expect(app.triggers.receive('paid', delivery('{"sum":9}'))).rejects.toMatchObject({
    code: 'webhook_refused',
    data: { reason: 'conflict' },
  });
  const other = `whsec_${Buffer.from('another secret of 32 characters!').toString('base64')}`;
  await expect(
    app.triggers.receive('paid', delivery('{"sum":7}', 'msg_2', other)),
  ).rejects.toMatchObject({ code: 'webhook_refused', data: { reason: 'bad_signature' } });
  await work(app);
  expect(seen.map(({ about }) => about)).toEqual([{ body: { sum: 7 } }]);
  await app.triggers.pause('paid');
  await app.triggers.receive('paid', delivery('{"sum":8}', 'msg_3'));
  await work(app);
  expect((await app.triggers.history('paid'))[0]).toMatchObject({
    decision: 'refuse',
    data: { reason: 'paused', firing: { id: 'webhook:msg_3' } },
  });
  expect(seen).toHaveLength(1);
  await expect(app.triggers.receive('nobody', delivery('{}'))).rejects.toMatchObject({
    code: 'trigger_not_found',
  });
  await app.close();
});

test('what cannot be a trigger is refused, and changes nothing', async () => {
  const { made } = noting();
  const { app } = desk({ runnables: [made], triggers: triggers() });
  const on = every('1h');
  const refused: readonly [Record<string, unknown>, string][] = [
    [{ name: '', on, start: 'note' }, '`name` must be'],
    [{ name: 'a', on: 'daily', start: 'note' }, '`on` must be made by'],
    [{ name: 'a', on, start: 'nobody' }, 'no runnable "nobody"'],
    [{ name: 'a', on, start: 7 }, '`start` must be a runnable'],
    [{ name: 'a', on, start: 'note', often: true }, 'often'],
    [{ name: 'a', on, start: 'note', overlap: 'never' }, 'overlap'],
    [{ name: 'a', on: event('mail.*', () => true), start: 'note' }, 'declare this trigger in code'],
  ];
  for (const [options, reason] of refused)
    await expect(app.triggers.create(options as never)).rejects.toThrow(reason);
  expect(() => cron('0 8 * * *', { timeZone: 'Mars/Base' })).toThrow('Mars/Base');
  expect(() => cron('0 0 30 2 *')).toThrow('never');
  expect(await app.triggers.list()).toEqual([]);
  await expect(
    app.triggers.create({ name: 'past', on: at('2020-01-01T00:00Z'), start: 'note' }),
  ).rejects.toThrow('lies in the past');
  await app.triggers.create({ name: 'a', on, start: 'note' });
  // Nothing has to work in between.
  await app.triggers.pause('a');
  await app.triggers.resume('a');
  await expect(app.triggers.create({ name: 'a', on, start: 'note' })).rejects.toMatchObject({
    code: 'trigger_state',
  });
  await expect(app.triggers.resume('a')).rejects.toMatchObject({ code: 'trigger_state' });
  await expect(app.triggers.pause('b')).rejects.toMatchObject({ code: 'trigger_not_found' });
  await app.close();
  const { app: without } = desk();
  expect(() => without.triggers).toThrow('`triggers');
  await without.close();
});
